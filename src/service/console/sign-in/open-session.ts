/**
 * The end of every way in. Somebody has proved that an address is theirs; only members of an account get further. A member
 * of one account is signed in, a member of several chooses.
 */
import * as z from 'zod/mini';
import type { SignedIn } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { normaliseEmail } from '../../../store/d1/accounts.ts';
import { type ConsoleSession, openConsoleSession, type SignInMethod } from '../../../store/d1/console-sessions.ts';
import { type Membership, membershipsOf } from '../../../store/d1/users.ts';
import { clientAddress } from '../../http/client-address.ts';
import { jsonResponse } from '../../http/json-response.ts';
import { consoleCookie, sessionSecret } from '../../http/session-cookie.ts';
import type { ConsoleCall, ConsoleError } from './console-call.ts';
import { shownMembership } from './current-user.ts';
import { issueTicket, readTicket, takeTicket } from './ticket.ts';

const proof = z.object({ email: z.string(), method: z.enum(['link', 'passkey', 'oidc', 'access']) });

/** Who somebody is, and how they proved it. */
export interface SignInProof {
  email: string;
  method: SignInMethod;
}

/** Tickets that prove an address: before the choice of an account, and on the way back from an issuer. */
type ProofPurpose = 'choose' | 'proved';

/** @param accountId the account that the proof is for; `null` lets a member of several choose. */
export async function enter(
  call: ConsoleCall,
  { email: given, method }: SignInProof,
  accountId: string | null,
): Promise<Result<Response, ConsoleError>> {
  const email = normaliseEmail(given);
  const open = await openMemberships(call, email);
  if (!open.ok) return open;
  const among = open.value.filter((one) => accountId === null || one.accountId === accountId);
  const [first, second] = among;
  if (first === undefined) return failed({ kind: 'not-a-member' });
  if (second !== undefined) {
    const ticket = await issueTicket(call.store, 'choose', { email, method }, call.nowMs);
    const accounts = among.map((one) => shownMembership(one, email));
    return ok(jsonResponse({ signedIn: false, ticket, accounts } satisfies SignedIn));
  }
  return ok(await signIn(call, { email, method, accountId: first.accountId }));
}

/** Who a ticket proves. It still counts afterwards. */
export async function readProof(
  call: ConsoleCall,
  purpose: ProofPurpose,
  ticket: string,
): Promise<Result<SignInProof, ConsoleError>> {
  const read = await readTicket(call.store, purpose, proof, ticket, call.nowMs);
  return read.ok ? ok(read.value.data) : read;
}

/** Uses the ticket up. */
export async function takeProof(
  call: ConsoleCall,
  purpose: ProofPurpose,
  ticket: string,
  accountId: string | null,
): Promise<Result<SignInProof & { accountId: string | null }, ConsoleError>> {
  const taken = await takeTicket(call.store, purpose, proof, ticket, call.nowMs);
  return taken.ok ? ok({ ...taken.value, accountId }) : taken;
}

/** Somebody who is signed in goes to another account of theirs. The session is new, its age and its end stay. */
export async function enterOther(
  call: ConsoleCall,
  session: ConsoleSession,
  accountId: string,
): Promise<Result<Response, ConsoleError>> {
  const { email, method, signedInAt, endsAt } = session;
  const open = await openMemberships(call, email);
  if (!open.ok) return open;
  if (!open.value.some((one) => one.accountId === accountId)) return failed({ kind: 'not-a-member' });
  return ok(await signIn(call, { email, method, accountId, signedInAt, endsAt }));
}

/** Accounts that are not disabled. */
async function openMemberships(call: ConsoleCall, email: string): Promise<Result<Membership[], ConsoleError>> {
  const memberships = await membershipsOf(call.store, email);
  const open = memberships.filter((one) => !one.disabled);
  if (open.length > 0) return ok(open);
  return failed({ kind: memberships.length > 0 ? 'account-disabled' : 'not-a-member' });
}

async function signIn(
  call: ConsoleCall,
  session: SignInProof & Pick<ConsoleSession, 'accountId'> & Partial<Pick<ConsoleSession, 'signedInAt' | 'endsAt'>>,
): Promise<Response> {
  const { request, signals, place, store, nowMs } = call;
  const facts = { address: clientAddress(signals, request), userAgent: request.headers.get('user-agent') ?? '' };
  const former = await sessionSecret(store, request, place);
  const secret = await openConsoleSession(store, { ...session, ...facts }, former, nowMs);
  const body: SignedIn = { signedIn: true, accountId: session.accountId };
  return jsonResponse(body, 200, { 'set-cookie': await consoleCookie(store, place, secret) });
}
