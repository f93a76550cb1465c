/** Sessions of the person who is signed in, in every account: the list, ending one, signing out here and everywhere. */
import type * as z from 'zod/mini';
import type { ShownSession, signInBodies } from '../../../contract/console/sign-in.ts';
import { failed, ok } from '../../../result.ts';
import { endAllSessions, endSession, sessionsOfPerson } from '../../../store/d1/console-sessions.ts';
import { jsonResponse } from '../../http/json-response.ts';
import { endedCookie } from '../../http/session-cookie.ts';
import type { ConsoleResult, SignedInCall } from './console-call.ts';

export async function listSessions({ store, user, nowMs }: SignedInCall): Promise<ConsoleResult> {
  const sessions = await sessionsOfPerson(store, user.session.email, nowMs);
  const shown = sessions.map((session): ShownSession => ({
    id: session.id,
    current: session.id === user.session.id,
    accountId: session.accountId,
    method: session.method,
    signedInAt: session.signedInAt,
    lastSeenAt: session.lastSeenAt,
    address: session.address,
    userAgent: session.userAgent,
  }));
  return ok({ sessions: shown });
}

export async function revokeSession(
  { store, user }: SignedInCall,
  { id }: z.infer<typeof signInBodies.revoke>,
): Promise<ConsoleResult> {
  const ended = await endSession(store, user.session.email, id);
  return ended ? ok({ success: true }) : failed({ kind: 'not-yours', what: 'session' });
}

export async function signOut({ store, user, place }: SignedInCall): Promise<ConsoleResult> {
  await endSession(store, user.session.email, user.session.id);
  return ok(jsonResponse({ success: true }, 200, { 'set-cookie': endedCookie(place) }));
}

export async function signOutEverywhere({ store, user, place }: SignedInCall): Promise<ConsoleResult> {
  const ended = await endAllSessions(store, user.session.email);
  return ok(jsonResponse({ success: true, ended }, 200, { 'set-cookie': endedCookie(place) }));
}
