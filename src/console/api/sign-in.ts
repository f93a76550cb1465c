/**
 * The ways into the console, and what a person does with their own sign-in. These endpoints are the console's own: they
 * are no part of the management API, so there is no shell line for them.
 */
import type {
  ShownMembership,
  ShownPasskey,
  ShownSession,
  SignInQuestion,
  SignInWays,
  SignedIn,
} from '../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../result.ts';
import { type Refusal, send } from './call.ts';

export type { ShownMembership, ShownPasskey, ShownSession, SignInQuestion, SignInWays, SignedIn };
type Answer<Value> = Promise<Result<Value, Refusal>>;
/** Called again with `replaces` when the person agrees that the session of that address ends. */
export type WayIn = (replaces?: string) => Answer<SignedIn>;

function ask<Value>(path: string, body: object = {}): Answer<Value> {
  return send({ method: 'POST', path: `/console/auth${path}`, body }) as Answer<Value>;
}

function read<Value>(path: string): Answer<Value> {
  return send({ method: 'GET', path: `/console/auth${path}` }) as Answer<Value>;
}

export const signInWays = (): Answer<SignInWays> => read('/ways');
export const withLink =
  (token: string): WayIn =>
  (replaces) =>
    ask('/link', { token, replaces });
export const withAccess: WayIn = (replaces) => ask('/access', { replaces });
/** Back from the issuer: the proof is in a cookie. */
export const withIssuer: WayIn = (replaces) => ask('/oidc/finish', { replaces });
/** An account of the person whom the ticket proves. */
export const withChoice =
  (accountId: string, ticket: string): WayIn =>
  (replaces) =>
    ask('/choose', { accountId, ticket, replaces });
/** Another account of the person who is signed in. */
export const switchAccount = (accountId: string): Answer<SignedIn> => ask('/choose', { accountId });

/** Leaves the console for the issuer; the browser comes back with a fragment (`entry.ts`). */
export async function goToIssuer(): Answer<null> {
  const answer = await ask<{ url: string }>('/oidc/start');
  if (!answer.ok) return answer;
  location.assign(answer.value.url);
  return ok(null);
}

/** The person touches the authenticator once, also when there is a question afterwards. */
export function withPasskey(): WayIn {
  let credential: unknown;
  return async (replaces) => {
    if (credential === undefined) {
      const options = await ask<PublicKeyCredentialRequestOptionsJSON>('/passkey/options');
      if (!options.ok) return options;
      const used = await usePasskey(options.value);
      if (!used.ok) return used;
      credential = used.value;
    }
    return ask('/passkey/verify', { credential, replaces });
  };
}

export async function addOwnPasskey(name: string): Answer<{ passkey: ShownPasskey }> {
  const options = await ask<PublicKeyCredentialCreationOptionsJSON>('/passkeys/options');
  if (!options.ok) return options;
  const credential = await createPasskey(options.value);
  return credential.ok ? ask('/passkeys/enrol', { name, credential: credential.value }) : credential;
}

export const renameOwnPasskey = (credentialId: string, name: string): Answer<unknown> =>
  ask('/passkeys/rename', { credentialId, name });
export const removeOwnPasskey = (credentialId: string): Answer<unknown> => ask('/passkeys/remove', { credentialId });
export const endOwnSession = (id: string): Answer<unknown> => ask('/sessions/revoke', { id });
export const leaveConsole = (): Answer<unknown> => ask('/sign-out');
export const leaveEverywhere = (): Answer<{ ended: number }> => ask('/sign-out-everywhere');

/** Passkeys and sessions of the person, read together. */
export async function ownSignIn(): Answer<{ passkeys: ShownPasskey[]; sessions: ShownSession[] }> {
  const [passkeys, sessions] = await Promise.all([
    read<{ passkeys: ShownPasskey[] }>('/passkeys'),
    read<{ sessions: ShownSession[] }>('/sessions'),
  ]);
  if (!passkeys.ok) return failed(passkeys.error);
  return sessions.ok ? ok({ ...passkeys.value, ...sessions.value }) : failed(sessions.error);
}

/** The browser's side of a passkey. Whatever the browser or the person does instead is a refusal with a sentence. */
type Credential = Result<unknown, Refusal>;

async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<Credential> {
  return attempt(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
}

async function usePasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<Credential> {
  return attempt(() =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );
}

/** Firefox and Safari know the JSON forms since 2024 and 2025. */
function isSupported(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
}

async function attempt(ceremony: () => Promise<unknown>): Promise<Credential> {
  if (!isSupported()) return passkeyRefused('This browser does not know passkeys. Use a newer one, or a one-time link');
  try {
    const credential = await ceremony();
    return credential === null
      ? passkeyRefused('No passkey was chosen')
      : ok((credential as PublicKeyCredential).toJSON());
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'InvalidStateError') return passkeyRefused('This device has a passkey of yours already');
    if (name === 'SecurityError')
      return passkeyRefused('Passkeys do not work at this address. Open the address of the console');
    return passkeyRefused('No passkey was used: the question was cancelled, or waited too long');
  }
}

export function passkeyRefused(message: string): Credential {
  return failed({ status: 0, key: 'PASSKEY', message, details: [], requestId: null });
}
