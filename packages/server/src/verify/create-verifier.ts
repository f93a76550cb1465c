/**
 * `createVerifier`: asks `/siteverify` about the token of a submission. All attempts share one deadline and one
 * idempotency key, so that a retry after a lost response gets the same response and a token is never spent twice.
 */
import { ownField } from '../http/own-field.ts';
import { type CallOutcome, callSiteverify } from './call-siteverify.ts';
import { readToken } from './read-token.ts';
import { type Settings, settingsOf, type VerifierOptions } from './verifier-options.ts';
import type { Refused, Unavailable, VerifyResult } from './verify-result.ts';

export interface VerifyOptions {
  /** The visitor's address, as your proxy reports it. */
  ip?: string | null | undefined;
  /** The address that the visitor typed, for the site's rules on email. */
  email?: string | null | undefined;
  /** The visitor's account at your site. */
  userAccount?: string | null | undefined;
  /** Instead of the verifier's. */
  expectedAction?: string | undefined;
  expectedHostname?: string | readonly string[] | undefined;
  minimumLevel?: 0 | 1 | 2 | undefined;
  /**
   * Default: a random one for this call. Your own must be made for this submission on your side, and never computed
   * from what the visitor sends.
   */
  idempotencyKey?: string | undefined;
  /** Ends the call early, for example when the visitor leaves. */
  signal?: AbortSignal | undefined;
}

export interface Verifier {
  /** `field`: the value of the form field `captcha-response`, in whatever form your framework parsed it. */
  verify(field: unknown, options?: VerifyOptions): Promise<VerifyResult>;
}

/** Thrown instead of the outcome `unavailable`, where `throwUnavailable` asks for it. */
export class ServiceUnavailableError extends Error {
  readonly code = 'GATEHOUSE_UNAVAILABLE';
  readonly result: Unavailable;

  constructor(result: Unavailable) {
    super(`The captcha service gave no usable response after ${result.attempts} attempts: ${result.cause}.`);
    this.name = 'ServiceUnavailableError';
    this.result = result;
  }
}

/** Other attempts need time too, so that one that hangs leaves some. */
const SHARE_OF_ATTEMPT = 2 / 3;
const BACKOFF_MS = 100;
/** A shorter attempt cannot succeed. */
const ATTEMPT_MIN_MS = 20;
/** What the service accepts. A longer value is the visitor's, and is not a mistake of this backend. */
const EMAIL_MAX_CHARS = 320;
const ACCOUNT_MAX_CHARS = 256;

export function createVerifier(options: VerifierOptions): Verifier {
  const settings = settingsOf(options);
  return {
    async verify(field, call = {}) {
      const result = await verify(settings, field, call);
      settings.onResult?.(result);
      if (result.outcome === 'unavailable' && settings.throwUnavailable) throw new ServiceUnavailableError(result);
      return result;
    },
  };
}

async function verify(settings: Settings, field: unknown, call: VerifyOptions): Promise<VerifyResult> {
  const reading = readToken(field);
  // While the service is away, no visitor can get a token. Fail open holds for them too, so the service is asked.
  if (reading.token === null && settings.failMode === 'closed') return missing(reading.why);
  const { email, userAccount } = call;
  if ((email?.length ?? 0) > EMAIL_MAX_CHARS || (userAccount?.length ?? 0) > ACCOUNT_MAX_CHARS)
    return refused('input-too-long');
  // The same holds for half a character, which no service takes.
  if (email?.isWellFormed() === false || userAccount?.isWellFormed() === false) return refused('input-malformed');
  const expected = expectationsOf(settings, call);
  const outcome = await askUntilDeadline(
    settings,
    questionOf(settings, reading.token ?? '', call, expected),
    call.signal,
  );
  if (outcome.kind === 'unavailable') return outcome.result;
  if (outcome.kind === 'refusal') {
    const { status, key, message } = outcome;
    return { outcome: 'misconfigured', pass: false, status, key, message };
  }
  return reading.token === null ? missing(reading.why) : judged(outcome.answer, expected);
}

interface Expectations {
  action: string | undefined;
  hostnames: readonly string[];
  level: number | undefined;
}

function expectationsOf(
  settings: Settings,
  { expectedAction, expectedHostname, minimumLevel }: VerifyOptions,
): Expectations {
  const hostnames = typeof expectedHostname === 'string' ? [expectedHostname] : expectedHostname;
  return {
    action: expectedAction ?? settings.expectedAction,
    hostnames: hostnames?.map((name) => name.toLowerCase()) ?? settings.expectedHostnames,
    level: minimumLevel ?? settings.minimumLevel,
  };
}

/** JSON leaves out what is undefined. The service takes one host name; of several, the answer is compared. */
function questionOf(settings: Settings, token: string, call: VerifyOptions, expected: Expectations): string {
  return JSON.stringify({
    secret: settings.secret,
    token,
    ip: call.ip?.toWellFormed(),
    email: call.email ?? undefined,
    userAccount: call.userAccount ?? undefined,
    action: expected.action,
    hostname: expected.hostnames.length === 1 ? expected.hostnames[0] : undefined,
    level: expected.level,
    idempotencyKey: call.idempotencyKey ?? crypto.randomUUID(),
  });
}

type Asked = Exclude<CallOutcome, { kind: 'fault' }> | { kind: 'unavailable'; result: Unavailable };

async function askUntilDeadline(settings: Settings, body: string, signal: AbortSignal | undefined): Promise<Asked> {
  const { url, retries, failMode, fetch: send } = settings;
  const deadlineMs = performance.now() + settings.timeoutMs;
  for (let attempts = 1; ; attempts++) {
    const leftMs = deadlineMs - performance.now();
    const isLast = attempts > retries;
    const timeoutMs = isLast ? leftMs : leftMs * SHARE_OF_ATTEMPT;
    const outcome = await callSiteverify({ url, body, timeoutMs, signal, fetch: send });
    if (outcome.kind !== 'fault') return outcome;
    const { cause, retryAfterMs } = outcome;
    const pauseMs = Math.max(retryAfterMs ?? 0, BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + Math.random() / 2));
    const isOver = pauseMs + ATTEMPT_MIN_MS > deadlineMs - performance.now();
    if (isLast || isOver || cause === 'aborted') {
      const pass = failMode === 'open' && cause !== 'aborted';
      return { kind: 'unavailable', result: { outcome: 'unavailable', pass, failMode, cause, attempts, retryAfterMs } };
    }
    await pause(pauseMs, signal);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The service has checked the same expectations. Checking them again protects from one that does not know them. */
function judged(answer: Record<string, unknown>, expected: Expectations): VerifyResult {
  const text = (name: string): string | null => {
    const value = ownField(answer, name);
    return typeof value === 'string' ? value : null;
  };
  const number = (name: string): number | null => {
    const value = ownField(answer, name);
    return typeof value === 'number' ? value : null;
  };
  const test = ownField(answer, 'test') === true;
  const [score, reason] = [number('score'), text('reason')];
  if (ownField(answer, 'verified') !== true) return refused(reason, score, test);
  const [action, hostname, level] = [text('action'), text('hostname'), number('level')];
  if (!test) {
    if (expected.action !== undefined && action !== expected.action) return refused('API.ACTION_MISMATCH', score);
    if (expected.hostnames.length > 0 && !expected.hostnames.includes(hostname?.toLowerCase() ?? ''))
      return refused('API.UNAUTHORIZED_ORIGIN_URL', score);
    if (level === null ? (expected.level ?? 0) > 0 : level < (expected.level ?? 0))
      return refused('API.LEVEL_TOO_LOW', score);
  }
  const unjudged = ownField(answer, 'notEvaluated');
  return {
    outcome: 'verified',
    pass: true,
    action,
    hostname,
    level,
    score,
    flagged: reason,
    challengedAtMs: number('challengeTimestamp'),
    notEvaluated: Array.isArray(unjudged) ? unjudged.filter((name): name is string => typeof name === 'string') : [],
    test,
  };
}

function missing(why: 'absent' | 'malformed'): VerifyResult {
  return { outcome: 'missing', pass: false, why };
}

function refused(reason: string | null, score: number | null = null, test = false): Refused {
  return { outcome: 'refused', pass: false, reason, score, test };
}
