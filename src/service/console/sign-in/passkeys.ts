/** Passkeys of the person who is signed in: enrol, list, rename, remove. */
import * as z from 'zod/mini';
import { encodeBase64url } from '../../../bytes/base64url.ts';
import { encodeUtf8 } from '../../../bytes/utf8.ts';
import type { ShownPasskey, signInBodies } from '../../../contract/console/sign-in.ts';
import { failed, ok } from '../../../result.ts';
import {
  addPasskey,
  countPasskeyUse,
  type Passkey,
  passkeyById,
  PASSKEYS_PER_PERSON_MAX,
  passkeysOfPerson,
  deletePasskey,
  setPasskeyName,
} from '../../../store/d1/passkeys.ts';
import { assertedCounter, challengeOf, createdPasskey } from '../webauthn/credential.ts';
import { passkeyAlgorithms } from '../webauthn/public-key.ts';
import type { ConsoleCall, ConsoleResult, SignedInCall } from './console-call.ts';
import { isFresh } from './current-user.ts';
import { issueTicket, readTicket, takeTicket, TICKET_VALID_MS } from './ticket.ts';
import { spendTicket } from '../../../store/d1/sign-in-links.ts';
import { completeSignIn } from './complete-sign-in.ts';
import { HmacSha256 } from '../../../bytes/hmac-sha256.ts';
import type { StoreEnv } from '../../../store/binding.ts';
import { deriveKey } from '../../../store/keys/master-key.ts';
import { rootKey } from '../../../store/keys/root-key.ts';

/** The challenge is for one session: another browser cannot complete an enrolment. */
const enrolment = z.object({ sessionId: z.string() });

export async function listPasskeys({ store, user }: SignedInCall): Promise<ConsoleResult> {
  return ok({ passkeys: (await passkeysOfPerson(store, user.session.email)).map(shown) });
}

/** `POST /console/auth/passkeys/options`: for `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export async function enrolOptions(call: SignedInCall): Promise<ConsoleResult> {
  const { store, place, user, nowMs } = call;
  if (!isFresh(call)) return failed({ kind: 'sign-in-too-old' });
  const { email, id: sessionId } = user.session;
  const ticket = await issueTicket(store, 'enrol', { sessionId }, nowMs);
  const own = await passkeysOfPerson(store, email);
  return ok({
    rp: { id: place.rpId, name: 'Gatehouse' },
    user: { id: await userHandle(store, email), name: email, displayName: user.name },
    challenge: encodeBase64url(encodeUtf8(ticket)),
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    excludeCredentials: own.map(({ credentialId }) => ({ type: 'public-key', id: credentialId })),
    timeout: TICKET_VALID_MS,
  });
}

/** `POST /console/auth/passkeys/enrol` */
export async function enrolPasskey(
  call: SignedInCall,
  { name, credential }: z.infer<typeof signInBodies.enrol>,
): Promise<ConsoleResult> {
  const { store, place, user, nowMs } = call;
  if (!isFresh(call)) return failed({ kind: 'sign-in-too-old' });
  const challenge = challengeOf(credential);
  if (challenge === null) return failed({ kind: 'passkey-refused', why: 'cannot be read' });
  const ticket = await takeTicket(store, 'enrol', enrolment, challenge, nowMs);
  if (!ticket.ok) return ticket;
  if (ticket.value.sessionId !== user.session.id) return failed({ kind: 'sign-in-late' });
  const made = await createdPasskey(credential, place);
  if (!made.ok) return made;
  const added = await addPasskey(store, { ...made.value, email: user.session.email, name }, nowMs);
  if (added.ok) return ok({ passkey: shown(added.value) });
  return failed(
    added.error === 'known' ? { kind: 'passkey-known' } : { kind: 'too-many-passkeys', max: PASSKEYS_PER_PERSON_MAX },
  );
}

export async function rename(
  { store, user }: SignedInCall,
  { credentialId, name }: z.infer<typeof signInBodies.rename>,
): Promise<ConsoleResult> {
  const renamed = await setPasskeyName(store, user.session.email, credentialId, name);
  return renamed ? ok({ success: true }) : failed({ kind: 'not-yours', what: 'passkey' });
}

/** The last passkey goes only after a sign-in with a link: the person knows another way in. */
export async function remove(
  call: SignedInCall,
  { credentialId }: z.infer<typeof signInBodies.removePasskey>,
): Promise<ConsoleResult> {
  const { store, user } = call;
  if (!isFresh(call)) return failed({ kind: 'sign-in-too-old' });
  const removed = await deletePasskey(store, user.session.email, credentialId, user.session.method === 'link');
  if (removed.ok) return ok({ success: true });
  return failed(removed.error === 'last' ? { kind: 'last-passkey' } : { kind: 'not-yours', what: 'passkey' });
}

function shown({ credentialId, name, createdAt, lastUsedAt }: Passkey): ShownPasskey {
  return { credentialId, name, createdAt, lastUsedAt };
}

const nothing = z.object({});

/**
 * Sign-in with a passkey. The browser finds the passkey itself (a discoverable credential), so nobody types an address,
 * and the service tells nobody which addresses it knows. `POST /console/auth/passkey/options`: for
 * `PublicKeyCredential.parseRequestOptionsFromJSON`.
 */
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

/**
 * The name of a person inside an authenticator. It says nothing about them (Web Authentication, 14.6.1), and it is
 * always the same one, so that an authenticator replaces a passkey of the same person in place of listing two.
 */
async function userHandle(store: StoreEnv, email: string): Promise<string> {
  const key = await deriveKey(await rootKey(store), 'passkey-user-handle');
  return encodeBase64url(new HmacSha256(key).sign(email));
}
