/**
 * The ways into the console, and what a person does with their own sign-in. These endpoints are the console's own: they
 * are no part of the management API, so there is no shell line for them.
 */
import type {
  ShownMembership,
  ShownPasskey,
  ShownSession,
  SignInWays,
  SignedIn,
} from '../../contract/console/sign-in.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { createPasskey, usePasskey } from './passkey.ts';
import { send } from './send.ts';
import type { Refusal } from './send.ts';

export type { ShownMembership, ShownPasskey, ShownSession, SignInWays, SignedIn };
type Answer<Value> = Promise<Result<Value, Refusal>>;

function ask<Value>(path: string, body: object = {}): Answer<Value> {
  return send({ method: 'POST', path: `/console/auth${path}`, body }) as Answer<Value>;
}

function read<Value>(path: string): Answer<Value> {
  return send({ method: 'GET', path: `/console/auth${path}` }) as Answer<Value>;
}

export const signInWays = (): Answer<SignInWays> => read('/ways');
export const exchangeLink = (token: string): Answer<SignedIn> => ask('/link', { token });
export const signInWithAccess = (): Answer<SignedIn> => ask('/access');
export const choices = (ticket: string): Answer<{ accounts: ShownMembership[] }> => ask('/choices', { ticket });
export const choose = (accountId: string, ticket?: string): Answer<SignedIn> =>
  ask('/choose', { accountId, ...(ticket === undefined ? {} : { ticket }) });

/** Leaves the console for the issuer; the browser comes back with a fragment (`entry.ts`). */
export async function goToIssuer(): Answer<null> {
  const answer = await ask<{ url: string }>('/oidc/start');
  if (!answer.ok) return answer;
  location.assign(answer.value.url);
  return ok(null);
}

export async function signInWithPasskey(): Answer<SignedIn> {
  const options = await ask<PublicKeyCredentialRequestOptionsJSON>('/passkey/options');
  if (!options.ok) return options;
  const credential = await usePasskey(options.value);
  return credential.ok ? ask('/passkey/verify', { credential: credential.value }) : credential;
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
