/**
 * Who is signed in to the console. The row of the session, the user and the account are read from D1 at every call, so
 * that signing out, removing a user and changing a role count from the next call on.
 */
import { failed, ok, type Result } from '../../result.ts';
import { isSeenLongAgo, markSeen, type SignedInUser, signedInUser } from '../../store/d1/console-sessions.ts';
import { RateLimit } from './rate-limit.ts';
import { isFromConsole } from './same-origin.ts';
import type { ServiceCall } from './service-call.ts';
import type { RateLimitError, SignInError } from './service-error.ts';
import { sessionSecret } from './session-cookie.ts';

/**
 * Per minute and session, in one isolate; far more than a page of the console asks. It is counted before the database is
 * read, so the cookie of a session that has ended costs no more than that of an open one.
 */
const CALLS_PER_MINUTE_MAX = 3000;
const calls = new RateLimit(CALLS_PER_MINUTE_MAX, 'Too many calls in this session');

type SessionCall = Pick<ServiceCall, 'store' | 'signIn' | 'request' | 'nowMs' | 'waitUntil'>;

/** `null`: the request has no cookie of a session. */
export async function authenticateSession(
  call: SessionCall,
): Promise<Result<SignedInUser, SignInError | RateLimitError> | null> {
  const { store, signIn, request, nowMs } = call;
  if (signIn.console === null) return null;
  const secret = await sessionSecret(store, request, signIn.console);
  if (secret === null) return null;
  if (!isFromConsole(request, signIn.console)) {
    return failed({ kind: 'not-from-console', origin: signIn.console.origin });
  }
  const limited = calls.take(secret, nowMs);
  if (limited !== null) return failed(limited);
  const user = await signedInUser(store, secret, nowMs);
  if (user === null) return failed({ kind: 'signed-out' });
  if (isSeenLongAgo(user.session, nowMs)) call.waitUntil(markSeen(store, user.session, nowMs));
  return ok(user);
}
