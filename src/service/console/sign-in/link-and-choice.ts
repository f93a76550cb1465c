/**
 * `POST /console/auth/link` exchanges the token of a one-time link, which a page reads from its fragment, for a session.
 * `POST /console/auth/choose` takes a member of several accounts to one of them.
 */
import type { signInBodies } from '../../../contract/console/sign-in.ts';
import type * as z from 'zod/mini';
import { failed, ok } from '../../../result.ts';
import { signInLinkEmail, takeSignInLink } from '../../../store/d1/sign-in-links.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { ConsoleCall, ConsoleResult } from './console-call.ts';
import { currentUser } from './current-user.ts';
import { enterOther, entryResponse, readProof, takeProof } from './open-session.ts';

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

/** With the ticket of a sign-in, or with a session to go to another account. */
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
  if (!user.ok) return user;
  const entry = await enterOther(call, user.value.session, accountId);
  return entry.ok ? ok(entryResponse(entry.value)) : entry;
}
