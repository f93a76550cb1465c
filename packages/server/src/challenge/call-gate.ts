/** One JSON call of the gate's challenge API, bounded in size. What a redirect would lead to is not the gate. */
import { readBounded } from '../http/read-bounded.ts';
import { ownField } from '../http/own-field.ts';
import { NotSolvedError } from './challenge-outcome.ts';

/** A solution's response can carry a picture, which this program does not look at. */
const ANSWER_MAX_BYTES = 512 * 1024;

export interface Gate {
  /** Base address of the API. */
  api: string;
  /** The visitor, as the first request described them. */
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  signal: AbortSignal;
}

export interface GateAnswer {
  body: unknown;
  headers: Headers;
}

/** @throws {NotSolvedError} for everything but a JSON response of status 200. */
export async function callGate(gate: Gate, call: string, body: object): Promise<GateAnswer> {
  const { api, headers, fetch: send, signal } = gate;
  const init = { method: 'POST', body: JSON.stringify(body), redirect: 'manual' as const, signal };
  const response = await send(`${api}/${call}`, {
    ...init,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
  }).catch((error: unknown) => {
    throw new NotSolvedError('unreachable', `${call}: ${String(error)}`);
  });
  const parsed = await jsonOf(response);
  if (response.status === 200 && parsed !== null) return { body: parsed, headers: response.headers };
  const { status } = response;
  const key = ownField(ownField(parsed, 'error'), 'key');
  const detail = `${call}: status ${status}${typeof key === 'string' ? `, ${key.slice(0, 100)}` : ''}`;
  if (status === 429 || status >= 500) throw new NotSolvedError('unreachable', detail);
  throw new NotSolvedError(status >= 400 ? 'refused' : 'not-understood', detail);
}

/** `null`: too long, broken, or no JSON. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse((await readBounded(response.body, ANSWER_MAX_BYTES)) ?? '');
  } catch {
    return null;
  }
}
