/** Who is signed in. The service decides at every call; this only spares people buttons that would be refused. */
import { signal } from '@preact/signals';
import type { Me } from '../../contract/console/sign-in.ts';
import type { Permission } from '../../contract/management/permissions.ts';
import { onSessionNotice, send, type Refusal } from './call.ts';

export type SignInState =
  | { kind: 'unknown' }
  | { kind: 'signed-out'; hasEnded: boolean; hasLeft: boolean }
  | { kind: 'signed-in'; user: Me }
  | { kind: 'failed'; error: Refusal };

export const session = signal<SignInState>({ kind: 'unknown' });

onSessionNotice((notice) => {
  if (notice === 'less') return void followRole();
  // Several calls of a view learn it: the first one says so.
  if (session.value.kind === 'signed-in') session.value = { kind: 'signed-out', hasEnded: true, hasLeft: false };
});

/** All tabs share one cookie. A tab that still shows another account would write into the wrong one, so it begins afresh. */
const tabs = new BroadcastChannel('gatehouse-session');
tabs.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (session.value.kind === 'signed-in' && data !== whose(session.value.user)) location.assign('/console');
});

function whose({ email, account }: Me): string {
  return `${account.id} ${email}`;
}

/** Asks who is signed in. */
export async function loadSession(): Promise<void> {
  const wasSignedIn = session.value.kind === 'signed-in';
  const answer = await send({ method: 'GET', path: '/console/auth/me' });
  if (answer.ok) {
    const user = answer.value as Me;
    session.value = { kind: 'signed-in', user };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    tabs.postMessage(whose(user));
  } else if (answer.error.status === 401) session.value = { kind: 'signed-out', hasEnded: wasSignedIn, hasLeft: false };
  else session.value = { kind: 'failed', error: answer.error };
}

/** The role has changed meanwhile, or the account was disabled. The page shows what is left. */
async function followRole(): Promise<void> {
  const answer = await send({ method: 'GET', path: '/console/auth/me' });
  const state = session.value;
  if (!answer.ok || state.kind !== 'signed-in' || JSON.stringify(state.user) === JSON.stringify(answer.value)) return;
  session.value = { kind: 'signed-in', user: answer.value as Me };
}

/** Nobody is signed in yet, and a way in has begun. */
export function beginSignIn(): void {
  session.value = { kind: 'signed-out', hasEnded: false, hasLeft: false };
}

/** The person has signed out. */
export function leave(): void {
  session.value = { kind: 'signed-out', hasEnded: false, hasLeft: true };
}

/** Whether the signed-in user's role has one of the permissions. */
export function may(...permissions: Permission[]): boolean {
  const state = session.value;
  if (state.kind !== 'signed-in') return false;
  const held = Object.values(state.user.permissions).flat();
  return permissions.some((permission) => held.includes(permission));
}
