/** Reads the gate's JSON challenge: what to ask for, and where. */
import { header } from '../../../../src/contract/edge/headers.ts';
import { ownField } from '../http/own-field.ts';
import { jsonOf } from './call-gate.ts';
import { NotSolvedError } from './challenge-outcome.ts';

export interface ChallengeOrder {
  /** Base address of the challenge API, on the origin that was requested. */
  api: string;
  siteKey: string;
  action: string;
  level: number;
}

export function isChallenge(response: Response): boolean {
  return response.status === 403 && response.headers.get(header.decision) === 'challenge';
}

/** @throws {NotSolvedError} when the response is not such a challenge. */
export async function orderOf(response: Response, address: string): Promise<ChallengeOrder> {
  if (!/json/i.test(response.headers.get('content-type') ?? '')) {
    void response.body?.cancel().catch(() => undefined);
    throw new NotSolvedError('is-page', 'The challenge is a page. Send Sec-Fetch-Dest: empty with the request.');
  }
  const order = ownField(await jsonOf(response), 'challenge');
  const [siteKey, action, level = 0, path] = ['siteKey', 'action', 'level', 'api'].map((name) => ownField(order, name));
  const api = typeof path === 'string' ? sameOriginBase(path, address) : null;
  if (typeof siteKey !== 'string' || typeof action !== 'string' || typeof level !== 'number' || api === null)
    throw new NotSolvedError('not-understood', 'The response does not describe a challenge.');
  return { api, siteKey, action, level };
}

/** A site must not send this program, and its cookies, to another one. */
function sameOriginBase(path: string, address: string): string | null {
  try {
    const url = new URL(path, address);
    return url.origin === new URL(address).origin ? url.origin + url.pathname.replace(/\/+$/, '') : null;
  } catch {
    return null;
  }
}
