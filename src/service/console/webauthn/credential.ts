/**
 * What an authenticator made, checked as Web Authentication Level 3 asks (7.1 and 7.2): the ceremony, the challenge, the
 * origin, the relying party, that a person was there and was verified. `@oslojs/webauthn` only parses; every check is here.
 * An attestation is not asked for and not read: any authenticator will do.
 */
import {
  type AuthenticatorData,
  ClientDataType,
  createAssertionSignatureMessage,
  parseAttestationObject,
  parseAuthenticatorData,
  parseClientDataJSON,
} from '@oslojs/webauthn';
import { decodeBase64url, encodeBase64url } from '../../../bytes/base64url.ts';
import type { AssertedCredential, CreatedCredential } from '../../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { SignInError } from '../../http/service-error.ts';
import type { ConsolePlace } from '../../sign-in-variables.ts';
import { isSignedBy, publicJwk } from './public-key.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The standard's own limit for a credential id. */
const CREDENTIAL_ID_MAX_BYTES = 1023;

/** The challenge of the client data as text: a ticket of this service. `null` when there is none to read. */
export function challengeOf(credential: CreatedCredential | AssertedCredential): string | null {
  const bytes = decodeBase64url(credential.response.clientDataJSON);
  if (bytes === null) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(parseClientDataJSON(bytes).challenge);
  } catch {
    return null;
  }
}

/** A new passkey. The caller has checked its challenge. */
export async function createdPasskey(
  { id, response }: CreatedCredential,
  place: ConsolePlace,
): Promise<Result<{ credentialId: string; publicKey: JsonWebKey; counter: number }, SignInError>> {
  const clientData = decodeBase64url(response.clientDataJSON);
  const attestation = decodeBase64url(response.attestationObject);
  if (clientData === null || attestation === null) return refused('cannot be read');
  try {
    const mistake = clientDataMistake(clientData, ClientDataType.Create, place);
    if (mistake !== null) return refused(mistake);
    const { authenticatorData } = parseAttestationObject(attestation);
    const fault = authenticatorMistake(authenticatorData, place);
    if (fault !== null) return refused(fault);
    const { credential, signatureCounter } = authenticatorData;
    if (credential === null || credential.id.length > CREDENTIAL_ID_MAX_BYTES) return refused('has no public key');
    if (encodeBase64url(credential.id) !== id) return refused('has two different ids');
    return ok({ credentialId: id, publicKey: await publicJwk(credential.publicKey), counter: signatureCounter });
  } catch {
    // The parser and WebCrypto throw for what they cannot read, such as a point off the curve.
    return refused('cannot be read, or has an algorithm that is not supported');
  }
}

/** A use of a passkey. The caller has checked its challenge, and checks the counter that this returns. */
export async function assertedCounter(
  { response }: AssertedCredential,
  publicKey: JsonWebKey,
  place: ConsolePlace,
): Promise<Result<number, SignInError>> {
  const clientData = decodeBase64url(response.clientDataJSON);
  const authenticator = decodeBase64url(response.authenticatorData);
  const signature = decodeBase64url(response.signature);
  if (clientData === null || authenticator === null || signature === null) return refused('cannot be read');
  try {
    const mistake = clientDataMistake(clientData, ClientDataType.Get, place);
    if (mistake !== null) return refused(mistake);
    const data = parseAuthenticatorData(authenticator);
    const fault = authenticatorMistake(data, place);
    if (fault !== null) return refused(fault);
    const message = createAssertionSignatureMessage(authenticator, clientData) as Bytes;
    if (!(await isSignedBy(publicKey, signature, message))) return refused('did not sign this sign-in');
    return ok(data.signatureCounter);
  } catch {
    return refused('cannot be read');
  }
}

function clientDataMistake(clientData: Bytes, type: ClientDataType, place: ConsolePlace): string | null {
  const read = parseClientDataJSON(clientData);
  if (read.type !== type) return 'was used for something else';
  // A page of another origin that relays a challenge of ours (phishing) fails here, and at the relying party below.
  if (read.origin !== place.origin) return `was used at another address than ${place.origin}`;
  return read.crossOrigin === true ? 'was used inside a page of another site' : null;
}

function authenticatorMistake(data: AuthenticatorData, place: ConsolePlace): string | null {
  if (!data.verifyRelyingPartyIdHash(place.rpId)) return 'belongs to another site';
  if (!data.userPresent || !data.userVerified) return 'was used without PIN, fingerprint or face';
  return null;
}

function refused(why: string): { ok: false; error: SignInError } {
  return failed({ kind: 'passkey-refused', why });
}
