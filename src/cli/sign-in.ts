/**
 * One-time links into the console. `npm start` prints one for the owner, `gatehouse signin` makes one for any team member:
 * it is how the first person gets in, and how somebody gets back in who has lost their last passkey.
 */
import { consolePlace } from '../service/sign-in-variables.ts';
import type { StoreEnv } from '../store/binding.ts';
import { normaliseEmail } from '../store/d1/accounts.ts';
import { LINK_VALID_MS, createSignInLink } from '../store/d1/sign-in-links.ts';
import { membershipsOf } from '../store/d1/users.ts';
import { CommandError } from './command-line.ts';

export interface SignInUrl {
  email: string;
  url: string;
  expiresAt: string;
}

/** The token is in the fragment, which no browser sends and no server logs. */
export async function signInUrl(
  env: StoreEnv,
  serviceUrl: string | undefined,
  link: { email: string; accountId: string | null },
  nowMs: number,
): Promise<SignInUrl> {
  if (serviceUrl === undefined) {
    throw new CommandError('The console is part of a running stack. Start one with npm start, and try again.');
  }
  const place = consolePlace(serviceUrl);
  if (place === null) {
    throw new CommandError(`The console needs https, and SERVICE_URL is ${serviceUrl}. Set it to an https address.`);
  }
  const email = normaliseEmail(link.email);
  const memberships = await membershipsOf(env, email);
  if (!memberships.some(({ accountId }) => link.accountId === null || accountId === link.accountId)) {
    throw new CommandError(
      `${link.accountId === null ? 'No account' : 'The account'} has a team member ${email}. Add them with POST /users/create, or list owners with: account list`,
    );
  }
  const token = await createSignInLink(env, { email, accountId: link.accountId }, nowMs);
  return {
    email,
    url: `${place.origin}/console#link=${token}`,
    expiresAt: new Date(nowMs + LINK_VALID_MS).toISOString(),
  };
}
