/**
 * The last step of every way in. It ends the session that the browser had before. A link to the console can be sent to
 * anybody, so when that session is somebody else's, the console asks first. The question names the other person only to a
 * caller who could be signed in as them, and it uses nothing up.
 */
import type { SignInQuestion, SignedIn, signInBodies } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { normaliseEmail } from '../../../store/d1/accounts.ts';
import { authenticateSession } from '../../http/authenticate.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult } from './console-call.ts';
import * as z from 'zod/mini';
import { signInLinkEmail, takeSignInLink } from '../../../store/d1/sign-in-links.ts';
import { currentUser, shownMembership } from './current-user.ts';
import { openConsoleSession, type ConsoleSession, type SignInMethod } from '../../../store/d1/console-sessions.ts';
import { membershipsOf, type Membership } from '../../../store/d1/users.ts';
import { clientAddress } from '../../http/client-address.ts';
import { jsonResponse } from '../../http/json-response.ts';
import { consoleCookie, sessionSecret } from '../../http/session-cookie.ts';
import { issueTicket, readTicket, takeTicket } from './ticket.ts';

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

const proof = z.object({ email: z.string(), method: z.enum(['link', 'passkey', 'oidc', 'access']) });

/** Who somebody is, and how they proved it. */
interface SignInProof {
  email: string;
  method: SignInMethod;
}

/** Tickets that prove an address: before the choice of an account, and on the way back from an issuer. */
type ProofPurpose = 'choose' | 'proved';

/**
 * Somebody has proved that an address is theirs; only members of an account get further. A member of one account is signed
 * in, a member of several chooses.
 * @param accountId the account that the proof is for; `null` lets a member of several choose.
 */
async function enter(
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
async function enterOther(
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
