/**
 * Calls `/siteverify`, for the edge: this service's, or that of any service with the same documented interface. It never
 * throws and never guesses. A response that is late, unreadable or of another shape is a fault, and the caller's failure
 * policy decides what a fault means.
 */
import { parseJson } from '../bytes/json.ts';
import { EDGE_USER_AGENT } from '../contract/captcha/challenge-constants.ts';
import type { EdgeVisitor } from '../contract/edge/edge-api.ts';
import { readBounded } from '../bytes/read-bounded.ts';
import { type SiteverifyAnswer, siteverifyAnswer } from '../contract/captcha/siteverify-answer.ts';
import { failed, ok, type Result } from '../result.ts';

export interface VerifyTokenOptions {
  /** Whole address of the endpoint, such as `https://service.example/siteverify`. */
  url: string;
  secret: string;
  token: string;
  ip?: string | null;
  action?: string;
  hostname?: string;
  level?: number;
  /** Left out for a service that knows only the documented fields. */
  audience?: 'site' | 'edge';
  /** With the client JWT as `bearer`: who shows the token, and their session. */
  visitor?: EdgeVisitor;
  sessionId?: string;
  bearer?: string;
  idempotencyKey?: string;
  timeoutMs: number;
  fetch(request: Request): Promise<Response>;
}

/**
 * `refused`: the service does not accept the request (wrong secret, bad body). `unreachable`: no response in time, or a
 * server error. `nonsense`: a response that is not one of this interface.
 */
export interface VerifyFault {
  kind: 'refused' | 'unreachable' | 'nonsense';
}

/** A response has some hundred bytes; anything longer is not one. */
const ANSWER_MAX_BYTES = 16_384;

export async function verifyToken(options: VerifyTokenOptions): Promise<Result<SiteverifyAnswer, VerifyFault>> {
  let response: Response;
  try {
    response = await options.fetch(
      new Request(options.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': EDGE_USER_AGENT,
          ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
        },
        body: JSON.stringify(questionOf(options)),
        redirect: 'manual',
        signal: AbortSignal.timeout(options.timeoutMs),
      }),
    );
  } catch {
    return failed({ kind: 'unreachable' });
  }
  // The request's own time limit ends the body too.
  const body = response.body && (await readBounded(response.body, ANSWER_MAX_BYTES, { timeoutMs: null }));
  const isBroken = body !== null && !body.ok && body.error.kind === 'unreadable';
  if (isBroken || response.status >= 500 || response.status === 429) return failed({ kind: 'unreachable' });
  if (response.status !== 200) return failed({ kind: 'refused' });
  const parsed = siteverifyAnswer.safeParse(body?.ok === true ? parseJson(body.value) : null);
  return parsed.success ? ok(parsed.data) : failed({ kind: 'nonsense' });
}

/** `JSON.stringify` leaves out what is undefined. */
function questionOf(options: VerifyTokenOptions): object {
  const { secret, token, ip, action, hostname, level, audience, idempotencyKey, visitor, sessionId } = options;
  const demands = { action, hostname, level, audience, idempotencyKey, visitor, sessionId };
  return { secret, token, ip: ip ?? undefined, ...demands };
}
