/**
 * The person who is signed in: `GET /console/auth/me`, which tells the console whose it is and what it may offer, and
 * their sessions in every account.
 */
import { permissionsOfRole } from '../../../contract/management/permissions.ts';
import type { Me, ShownMembership, ShownSession, signInBodies } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import {
  endAllSessions,
  endConsoleSession,
  sessionsOfPerson,
  type SignedInUser,
} from '../../../store/d1/console-sessions.ts';
import { LINK_VALID_MS } from '../../../store/d1/sign-in-links.ts';
import { passkeysOfPerson } from '../../../store/d1/passkeys.ts';
import { type Membership, membershipsOf } from '../../../store/d1/users.ts';
import { authenticateSession } from '../../http/authenticate.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult, SignedInCall } from './console-call.ts';
import * as z from 'zod/mini';
import { jsonResponse } from '../../http/json-response.ts';
import { endedCookie } from '../../http/session-cookie.ts';

/**
 * Passkeys may be changed this long after a sign-in. A thief with the cookie of an older session cannot turn it into a
 * passkey, which would outlive every revocation.
 */
const FRESH_MS = LINK_VALID_MS;

/**
 * Who is signed in, and `GET /console/auth/me`, which tells the console whose it is and what it may offer. Also of an
 * account that is disabled.
 */
export async function currentUser(call: ConsoleCall): Promise<Result<SignedInUser, ConsoleError>> {
  return (await authenticateSession(call)) ?? failed({ kind: 'signed-out' });
}

export function isFresh({ user, nowMs }: SignedInCall): boolean {
  return nowMs < freshUntil(user);
}

export async function me({ store, user, outbound }: SignedInCall): Promise<ConsoleResult> {
  const { session, account, name, role } = user;
  const [memberships, passkeys] = await Promise.all([
    membershipsOf(store, session.email),
    passkeysOfPerson(store, session.email),
  ]);
  const body: Me = {
    email: session.email,
    name,
    role: account.ownerEmail === session.email ? 'owner' : role,
    account: {
      id: account.id,
      ownerEmail: account.ownerEmail,
      tier: account.tier,
      features: account.features,
      disabled: account.disabled,
    },
    permissions: account.disabled ? {} : permissionsOfRole(role),
    accounts: memberships.filter((one) => !one.disabled).map((one) => shownMembership(one, session.email)),
    signedInAt: session.signedInAt,
    freshUntil: freshUntil(user),
    passkeyCount: passkeys.length,
    callsOwnMachine: outbound.allowsLoopback,
  };
  return ok(body);
}

function freshUntil({ session }: SignedInUser): number {
  return session.signedInAt + FRESH_MS;
}

/** Sessions of the person who is signed in, in every account: the list, ending one, signing out here and everywhere. */
export async function listConsoleSessions({ store, user, nowMs }: SignedInCall): Promise<ConsoleResult> {
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
  const ended = await endConsoleSession(store, user.session.email, id);
  return ended ? ok({ success: true }) : failed({ kind: 'not-yours', what: 'session' });
}

export async function signOut({ store, user, place }: SignedInCall): Promise<ConsoleResult> {
  await endConsoleSession(store, user.session.email, user.session.id);
  return ok(jsonResponse({ success: true }, 200, { 'set-cookie': endedCookie(place) }));
}

export async function signOutEverywhere({ store, user, place }: SignedInCall): Promise<ConsoleResult> {
  const ended = await endAllSessions(store, user.session.email);
  return ok(jsonResponse({ success: true, ended }, 200, { 'set-cookie': endedCookie(place) }));
}

export function shownMembership({ accountId, ownerEmail, role }: Membership, email: string): ShownMembership {
  return { accountId, ownerEmail, role: ownerEmail === email ? 'owner' : role };
}
