/**
 * Who is signed in to the console. The row of the session, the user and the account are read from D1 at every call, so
 * that signing out, removing a user and changing a role count from the next call on.
 */
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { isSeenLongAgo, markSeen, signedInUser } from '../../store/d1/console-sessions.ts';
import type { SignedInUser } from '../../store/d1/console-sessions.ts';
import { isFromConsole } from './same-origin.ts';
import type { ServiceCall } from './service-call.ts';
import type { SignInError } from './service-error.ts';
import { sessionSecret } from './session-cookie.ts';

type SessionCall = Pick<ServiceCall, 'store' | 'signIn' | 'request' | 'nowMs' | 'waitUntil'>;

/** `null`: the request has no cookie of a session. */
export async function authenticateSession(call: SessionCall): Promise<Result<SignedInUser, SignInError> | null> {
  const { store, signIn, request, nowMs } = call;
  if (signIn.console === null) return null;
  const secret = sessionSecret(request, signIn.console);
  if (secret === null) return null;
  if (!isFromConsole(request, signIn.console)) {
    return failed({ kind: 'not-from-console', origin: signIn.console.origin });
  }
  const user = await signedInUser(store, secret, nowMs);
  if (user === null) return failed({ kind: 'signed-out' });
  if (isSeenLongAgo(user.session, nowMs)) call.waitUntil(markSeen(store, user.session, nowMs));
  return ok(user);
}
