/**
 * One call of `/siteverify`, bounded in time and size. It never rejects: a caller gets the service's answer, a fault
 * that another try may end, or a refusal that it does not.
 */
import { ownField } from '../http/own-field.ts';
import { readBounded } from '../http/read-bounded.ts';
import type { Unavailable } from './verify-result.ts';

/** An answer has some hundred bytes. */
const ANSWER_MAX_BYTES = 16_384;
const MESSAGE_MAX_CHARS = 300;

export type CallOutcome =
  | { kind: 'answer'; answer: Record<string, unknown> & { verified: boolean } }
  | { kind: 'fault'; cause: Unavailable['cause']; retryAfterMs: number | null }
  | { kind: 'refusal'; status: number; key: string | null; message: string };

export interface SiteverifyCall {
  url: string;
  /** JSON. */
  body: string;
  timeoutMs: number;
  /** Ends the call early. */
  signal: AbortSignal | undefined;
  fetch: typeof fetch;
}

export async function callSiteverify(call: SiteverifyCall): Promise<CallOutcome> {
  const abort = new AbortController();
  const { signal, timeoutMs } = call;
  if (signal?.aborted) return fault('aborted');
  let giveUp: ((cause: 'timeout' | 'aborted') => void) | undefined;
  // Raced as well as aborted: a fetch of the caller's may not listen to a signal.
  const ended = new Promise<CallOutcome>((resolve) => {
    giveUp = (cause) => resolve(fault(cause));
  });
  const onAbort = (): void => giveUp?.('aborted');
  const timer = setTimeout(() => giveUp?.('timeout'), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([attempt(call, abort.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    abort.abort();
  }
}

async function attempt({ url, body, fetch: send }: SiteverifyCall, signal: AbortSignal): Promise<CallOutcome> {
  try {
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body,
      // The secret is in the body. A redirect would carry it to another address.
      redirect: 'manual',
      signal,
    });
    return await read(response, url);
  } catch {
    return fault('network');
  }
}

async function read(response: Response, url: string): Promise<CallOutcome> {
  const { status, type } = response;
  if ((type as string) === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return { kind: 'refusal', status, key: null, message: `${url} redirects. Set serviceUrl to the final address.` };
  }
  if (status === 429) return fault('rate-limited', retryAfterMs(response));
  if (status >= 500 || status === 408) return fault('server-error', retryAfterMs(response));
  const text = await readBounded(response.body, ANSWER_MAX_BYTES);
  const answer = text === null ? null : parsed(text);
  if (status !== 200) return refusal(status, url, answer);
  return isAnswer(answer) ? { kind: 'answer', answer } : fault('unreadable');
}

function fault(cause: Unavailable['cause'], retryMs: number | null = null): CallOutcome {
  return { kind: 'fault', cause, retryAfterMs: retryMs };
}

function refusal(status: number, url: string, answer: unknown): CallOutcome {
  const error = ownField(answer, 'error');
  const [key, message] = [ownField(error, 'key'), ownField(error, 'message')];
  return {
    kind: 'refusal',
    status,
    key: typeof key === 'string' ? key.slice(0, MESSAGE_MAX_CHARS) : null,
    message:
      typeof message === 'string'
        ? message.slice(0, MESSAGE_MAX_CHARS)
        : `${url} responds with status ${status}. Check serviceUrl and the secret.`,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isAnswer(value: unknown): value is Record<string, unknown> & { verified: boolean } {
  return typeof ownField(value, 'verified') === 'boolean' && !Array.isArray(value);
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(response: Response): number | null {
  const text = response.headers.get('retry-after') ?? '';
  const waitMs = /^\d{1,8}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
