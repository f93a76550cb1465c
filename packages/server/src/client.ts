/**
 * For programs that call a site behind the gate: solves the proof of work of a challenge and returns the cookie that lets
 * the same request pass. Image and puzzle challenges ask for a person, and a program does not get past them.
 */
import { cookie } from '../../../src/contract/edge/headers.ts';
import { callGate, type Gate } from './challenge/call-gate.ts';
import { isChallenge, orderOf } from './challenge/challenge-order.ts';
import { type ChallengeOutcome, NotSolvedError } from './challenge/challenge-outcome.ts';
import { solveWork, type WorkLimits } from './challenge/solve-work.ts';
import { ownField } from './http/own-field.ts';

export type { ChallengeOutcome, NotSolved, Solved } from './challenge/challenge-outcome.ts';

export interface SolveOptions {
  /**
   * The address that you requested, and not `response.url`, which is another host's after a redirect. The cookie of
   * `headers` goes to this host alone. Can be left out if there is no cookie.
   */
  url?: string;
  /** The headers of the request. The clearance is bound to its `User-Agent`, so name the one that you send. */
  headers?: Headers | Readonly<Record<string, string>>;
  /** For everything together. Default 30,000. */
  timeoutMs?: number;
  /**
   * The most work at a time, in squarings. Default 3,000,000, a few seconds of one core. Where the price rises meanwhile, the
   * gate may ask for two more pieces of work, which are the rest of it.
   */
  maxWork?: number;
  /** Ends it early. */
  signal?: AbortSignal;
  /** Instead of the runtime's own. */
  fetch?: typeof fetch;
}

const TIMEOUT_MS = 30_000;
const MAX_WORK = 3_000_000;
/** No price rises more often while one challenge is solved. */
const WORKS_MAX = 3;
/** What the gate binds a clearance to, and the session that it belongs to. Nothing else of a request is repeated. */
const VISITOR_HEADERS = ['user-agent', 'accept-language', 'cookie'];

/**
 * Reads the body of a response that is a challenge. Never rejects for what the gate or the network does.
 * @throws {TypeError} when neither `response.url` nor `url` has an address.
 */
export async function solveChallenge(response: Response, options: SolveOptions = {}): Promise<ChallengeOutcome> {
  if (!isChallenge(response)) return { outcome: 'not-challenged' };
  const address = options.url ?? response.url;
  if (!URL.canParse(address)) throw new TypeError('url is missing. Set it to the address that was requested.');
  const abort = new AbortController();
  const { timeoutMs = TIMEOUT_MS, maxWork = MAX_WORK, signal } = options;
  const asked = new Headers(options.headers);
  const headers: Record<string, string> = {};
  for (const name of VISITOR_HEADERS) {
    const value = asked.get(name);
    if (value !== null) headers[name] = value;
  }
  if (isRedirectedElsewhere(response, options.url, headers)) {
    void response.body?.cancel().catch(() => undefined);
    const detail = `The response is of ${originOf(response.url)}, after a redirect. Set url to the address that you request, and request one of that host.`;
    return { outcome: 'not-solved', why: 'redirected', detail };
  }
  const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  let stop: ((why: 'timeout' | 'aborted') => void) | undefined;
  // Raced as well as aborted: neither a body that drips nor a fetch of the caller's may outlast the deadline.
  const stopped = new Promise<ChallengeOutcome>((resolve) => {
    stop = (why) => resolve({ outcome: 'not-solved', why, detail: `Not solved in ${timeoutMs} ms.` });
  });
  const onAbort = (): void => stop?.('aborted');
  const timer = setTimeout(() => stop?.('timeout'), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const limits = { maxWork, isStopped: () => abort.signal.aborted };
  const gate = { headers, fetch: send, signal: abort.signal };
  try {
    return await Promise.race([stopped, course(response, address, gate, limits)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    abort.abort();
  }
}

/**
 * `fetch` leaves out the cookie when a redirect leads to another host. Without `url`, nobody knows whether it did, so
 * a cookie is not sent after a redirect.
 */
function isRedirectedElsewhere(response: Response, url: string | undefined, headers: object): boolean {
  if (!response.redirected) return false;
  return url === undefined ? 'cookie' in headers : originOf(url) !== originOf(response.url);
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'an unknown host';
}

/** Challenge, proof of work, clearance. */
async function course(
  response: Response,
  address: string,
  visitor: Omit<Gate, 'api'>,
  limits: WorkLimits,
): Promise<ChallengeOutcome> {
  try {
    const { api, siteKey, action, level } = await orderOf(response, address);
    const gate = { ...visitor, api };
    const { body: challenge } = await callGate(gate, 'challenge', { siteKey, action, level });
    const answer = await solutionOf(challenge, gate, limits);
    const token = ownField(answer, 'token');
    if (typeof token !== 'string') throw new NotSolvedError('refused', `solution: ${reasonOf(answer)}`);
    const { body: bought, headers } = await callGate(gate, 'verify', { token });
    const clearance = headers.getSetCookie().find((line) => line.startsWith(`${cookie.clearance}=`));
    if (ownField(bought, 'verified') !== true || clearance === undefined)
      throw new NotSolvedError('refused', `verify: ${reasonOf(bought)}`);
    const expiresAt = ownField(bought, 'expiresAt');
    return {
      outcome: 'solved',
      cookie: clearance.split(';', 1)[0] ?? '',
      expiresAtMs: typeof expiresAt === 'number' ? expiresAt : null,
    };
  } catch (error) {
    if (error instanceof NotSolvedError) return error.outcome;
    return { outcome: 'not-solved', why: 'not-understood', detail: String(error) };
  }
}

/** The price may have risen meanwhile: then the response has the rest of the work. */
async function solutionOf(challenge: unknown, gate: Gate, limits: WorkLimits, works = 1): Promise<unknown> {
  const kind = ownField(challenge, 'kind');
  if (kind !== 'pow') throw personNeeded(kind);
  const solution = await solveWork(ownField(challenge, 'pow'), limits);
  const sealed = ownField(challenge, 'challenge');
  const { body: answer } = await callGate(gate, 'solution', { challenge: sealed, solution });
  const next = ownField(answer, 'next');
  return next === undefined || works === WORKS_MAX ? answer : solutionOf(next, gate, limits, works + 1);
}

function personNeeded(kind: unknown): NotSolvedError {
  const name = typeof kind === 'string' ? kind.slice(0, 20) : 'unknown';
  return new NotSolvedError(
    'person-needed',
    `The gate asks for a challenge of the kind ${name}, which only a person can solve. Ask the site to exempt this program.`,
  );
}

function reasonOf(body: unknown): string {
  const reason = ownField(body, 'reason');
  return typeof reason === 'string' ? reason.slice(0, 100) : 'no reason given';
}
