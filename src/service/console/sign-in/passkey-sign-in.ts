/**
 * Sign-in with a passkey. The browser finds the passkey itself (a discoverable credential), so nobody types an address, and
 * the service tells nobody which addresses it knows.
 */
import * as z from 'zod/mini';
import { encodeBase64url } from '../../../bytes/base64url.ts';
import { encodeUtf8 } from '../../../bytes/utf8.ts';
import type { signInBodies } from '../../../contract/console/sign-in.ts';
import { failed, ok } from '../../../result.ts';
import { countPasskeyUse, passkeyById } from '../../../store/d1/passkeys.ts';
import { spendTicket } from '../../../store/d1/sign-in-links.ts';
import { assertedCounter, challengeOf } from '../webauthn/credential.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { ConsoleCall, ConsoleResult } from './console-call.ts';
import { TICKET_VALID_MS, issueTicket, readTicket } from './ticket.ts';
import { userHandle } from './user-handle.ts';

const nothing = z.object({});

/** `POST /console/auth/passkey/options`: for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export async function passkeyOptions({ store, place, nowMs }: ConsoleCall): Promise<ConsoleResult> {
  const ticket = await issueTicket(store, 'passkey', {}, nowMs);
  return ok({
    challenge: encodeBase64url(encodeUtf8(ticket)),
    rpId: place.rpId,
    userVerification: 'required',
    allowCredentials: [],
    timeout: TICKET_VALID_MS,
  });
}

/** `POST /console/auth/passkey/verify` */
export async function passkeySignIn(
  call: ConsoleCall,
  { credential, replaces }: z.infer<typeof signInBodies.assertion>,
): Promise<ConsoleResult> {
  const { store, place, nowMs } = call;
  const challenge = challengeOf(credential);
  if (challenge === null) return failed({ kind: 'passkey-refused', why: 'cannot be read' });
  const ticket = await readTicket(store, 'passkey', nothing, challenge, nowMs);
  if (!ticket.ok) return ticket;
  const passkey = await passkeyById(store, credential.id);
  if (passkey === null) return failed({ kind: 'passkey-refused', why: 'is not registered here, or was removed' });
  const handle = credential.response.userHandle;
  if (handle && handle !== (await userHandle(store, passkey.email))) {
    return failed({ kind: 'passkey-refused', why: 'belongs to somebody else' });
  }
  const counter = await assertedCounter(credential, passkey.publicKey, place);
  if (!counter.ok) return counter;
  return completeSignIn(call, {
    replaces,
    proved: () => passkey.email,
    async take() {
      // Only now, so that nobody without a passkey can make a row or use up the challenge of somebody else.
      if (!(await spendTicket(store, challenge, ticket.value.expiresAt))) return failed({ kind: 'sign-in-late' });
      if (!(await countPasskeyUse(store, passkey.credentialId, counter.value, nowMs))) {
        return failed({ kind: 'passkey-refused', why: 'was used with an old counter: somebody may have a copy of it' });
      }
      return ok({ email: passkey.email, method: 'passkey', accountId: null });
    },
  });
}
