/**
 * The last step of every way in. It ends the session that the browser had before. A link to the console can be sent to
 * anybody, so when that session is somebody else's, the console asks first. The question names the other person only to a
 * caller who could be signed in as them, and it uses nothing up.
 */
import type { SignInQuestion } from '../../../contract/console/sign-in.ts';
import { ok, type Result } from '../../../result.ts';
import { normaliseEmail } from '../../../store/d1/accounts.ts';
import { authenticateSession } from '../../http/authenticate.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult } from './console-call.ts';
import { enter, entryResponse, type SignInProof } from './open-session.ts';

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
  const entry = taken.ok ? await enter(call, taken.value, taken.value.accountId) : taken;
  return entry.ok ? ok(entryResponse(entry.value)) : entry;
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
