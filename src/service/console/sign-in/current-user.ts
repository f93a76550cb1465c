/** Who is signed in, and `GET /console/auth/me`, which tells the console whose it is and what it may offer. */
import { permissionsOfRole } from '../../../contract/management/roles.ts';
import type { Me } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { SignedInUser } from '../../../store/d1/console-sessions.ts';
import { LINK_VALID_MS } from '../../../store/d1/sign-in-links.ts';
import { passkeysOfPerson } from '../../../store/d1/passkeys.ts';
import { membershipsOf } from '../../../store/d1/users.ts';
import { authenticateSession } from '../../http/authenticate-session.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult, SignedInCall } from './console-call.ts';
import { shownMembership } from './open-session.ts';

/**
 * Passkeys may be changed this long after a sign-in. A thief with the cookie of an older session cannot turn it into a
 * passkey, which would outlive every revocation.
 */
const FRESH_MS = LINK_VALID_MS;

/** Also of an account that is disabled. */
export async function currentUser(call: ConsoleCall): Promise<Result<SignedInUser, ConsoleError>> {
  return (await authenticateSession(call)) ?? failed({ kind: 'signed-out' });
}

export function isFresh({ user, nowMs }: SignedInCall): boolean {
  return nowMs < freshUntil(user);
}

export async function me({ store, user }: SignedInCall): Promise<ConsoleResult> {
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
  };
  return ok(body);
}

function freshUntil({ session }: SignedInUser): number {
  return session.signedInAt + FRESH_MS;
}
