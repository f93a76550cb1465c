/**
 * `POST /console/auth/link` exchanges the token of a one-time link, which a page reads from its fragment, for a session.
 * `POST /console/auth/choose` takes a member of several accounts to one of them.
 */
import type { signInBodies } from '../../../contract/console/sign-in.ts';
import type * as z from 'zod/mini';
import { failed, ok } from '../../../result.ts';
import { takeSignInLink } from '../../../store/d1/sign-in-links.ts';
import type { ConsoleCall, ConsoleResult } from './console-call.ts';
import { choices, enter, enterChosen, enterOther, entryResponse } from './open-session.ts';
import { currentUser } from './current-user.ts';

export async function exchangeLink(
  call: ConsoleCall,
  { token }: z.infer<typeof signInBodies.link>,
): Promise<ConsoleResult> {
  const link = await takeSignInLink(call.store, token, call.nowMs);
  if (link === null) return failed({ kind: 'link-spent' });
  const entry = await enter(call, { email: link.email, method: 'link' }, link.accountId);
  return entry.ok ? ok(entryResponse(entry.value)) : entry;
}

/** `POST /console/auth/choices`: for a browser that came back from an issuer with nothing but the ticket. */
export async function listChoices(
  call: ConsoleCall,
  { ticket }: z.infer<typeof signInBodies.choices>,
): Promise<ConsoleResult> {
  const accounts = await choices(call, ticket);
  return accounts.ok ? ok({ accounts: accounts.value }) : accounts;
}

/** With the ticket of a sign-in, or with a session to go to another account. */
export async function chooseAccount(
  call: ConsoleCall,
  { ticket, accountId }: z.infer<typeof signInBodies.choose>,
): Promise<ConsoleResult> {
  if (ticket !== undefined) {
    const entry = await enterChosen(call, ticket, accountId);
    return entry.ok ? ok(entryResponse(entry.value)) : entry;
  }
  const user = await currentUser(call);
  if (!user.ok) return user;
  const entry = await enterOther(call, user.value.session, accountId);
  return entry.ok ? ok(entryResponse(entry.value)) : entry;
}
