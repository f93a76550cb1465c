/**
 * The last step of every way in. It ends the session that the browser had before. A link to the console can be sent to
 * anybody, so when that session is somebody else's, the console asks first. The question names the other person only to a
 * caller who could be signed in as them, and it uses nothing up.
 */
import type { signInBodies, SignInQuestion } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { normaliseEmail } from '../../../store/d1/accounts.ts';
import { authenticateSession } from '../../http/authenticate.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult } from './console-call.ts';
import { enter, enterOther, readProof, type SignInProof, takeProof } from './open-session.ts';
import * as z from 'zod/mini';
import { signInLinkEmail, takeSignInLink } from '../../../store/d1/sign-in-links.ts';
import { currentUser } from './current-user.ts';

interface WayIn {
  /** Whose session may end, as the person was asked. A session that has changed since is asked about anew. */
  replaces: string | undefined;
  /** Whose address is proved; asked only when there is a session. `null`: nobody's. */
  proved: () => Promise<string | null> | string;
  /** Uses the proof up. `accountId`: the account that it is for; `null` lets a member of several choose. */
  take: () => Promise<Result<SignInProof & { accountId: string | null }, ConsoleError>>;
}

export async function completeSignIn(call: ConsoleCall, way: WayIn): Promise<ConsoleResult> {
  const question = await questionBefore(call, way);
  if (!question.ok) return question;
  if (question.value !== null) return ok(question.value);
  const taken = await way.take();
  return taken.ok ? enter(call, taken.value, taken.value.accountId) : taken;
}

async function questionBefore(
  call: ConsoleCall,
  { replaces, proved }: WayIn,
): Promise<Result<SignInQuestion | null, ConsoleError>> {
  const open = await authenticateSession(call);
  if (open === null) return ok(null);
  if (!open.ok) return open.error.kind === 'signed-out' ? ok(null) : open;
  const isSignedInAs = open.value.session.email;
  if (replaces === isSignedInAs) return ok(null);
  const email = await proved();
  const signsInAs = email === null ? isSignedInAs : normaliseEmail(email);
  return ok(signsInAs === isSignedInAs ? null : { signedIn: false, isSignedInAs, signsInAs });
}

/** `POST /console/auth/link`: exchanges the token of a one-time link, which a page reads from its fragment, for a session. */
export async function exchangeLink(
  call: ConsoleCall,
  { token, replaces }: z.infer<typeof signInBodies.link>,
): Promise<ConsoleResult> {
  const { store, nowMs } = call;
  return completeSignIn(call, {
    replaces,
    proved: () => signInLinkEmail(store, token, nowMs),
    async take() {
      const link = await takeSignInLink(store, token, nowMs);
      return link === null ? failed({ kind: 'link-spent' }) : ok({ ...link, method: 'link' });
    },
  });
}

/**
 * `POST /console/auth/choose`: takes a member of several accounts to one of them, with the ticket of a sign-in, or with a
 * session to go to another account.
 */
export async function chooseAccount(
  call: ConsoleCall,
  { ticket, accountId, replaces }: z.infer<typeof signInBodies.choose>,
): Promise<ConsoleResult> {
  if (ticket !== undefined) {
    const proof = await readProof(call, 'choose', ticket);
    if (!proof.ok) return proof;
    return completeSignIn(call, {
      replaces,
      proved: () => proof.value.email,
      take: () => takeProof(call, 'choose', ticket, accountId),
    });
  }
  const user = await currentUser(call);
  return user.ok ? enterOther(call, user.value.session, accountId) : user;
}
