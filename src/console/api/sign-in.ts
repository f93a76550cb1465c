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
import { createPasskey, usePasskey } from './passkey.ts';
import { send, type Refusal } from './call.ts';

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

export async function enrolPasskey(name: string): Answer<{ passkey: ShownPasskey }> {
  const options = await ask<PublicKeyCredentialCreationOptionsJSON>('/passkeys/options');
  if (!options.ok) return options;
  const credential = await createPasskey(options.value);
  return credential.ok ? ask('/passkeys/enrol', { name, credential: credential.value }) : credential;
}

export const renamePasskey = (credentialId: string, name: string): Answer<unknown> =>
  ask('/passkeys/rename', { credentialId, name });
export const removePasskey = (credentialId: string): Answer<unknown> => ask('/passkeys/remove', { credentialId });
export const revokeSession = (id: string): Answer<unknown> => ask('/sessions/revoke', { id });
export const signOut = (): Answer<unknown> => ask('/sign-out');
export const signOutEverywhere = (): Answer<{ ended: number }> => ask('/sign-out-everywhere');

/** Passkeys and sessions of the person, read together. */
export async function ownSignIn(): Answer<{ passkeys: ShownPasskey[]; sessions: ShownSession[] }> {
  const [passkeys, sessions] = await Promise.all([
    read<{ passkeys: ShownPasskey[] }>('/passkeys'),
    read<{ sessions: ShownSession[] }>('/sessions'),
  ]);
  if (!passkeys.ok) return failed(passkeys.error);
  return sessions.ok ? ok({ ...passkeys.value, ...sessions.value }) : failed(sessions.error);
}
