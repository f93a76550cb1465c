/** Who is signed in. The service decides at every call; this only spares people buttons that would be refused. */
import { signal } from '@preact/signals';
import type { Feature, Permission } from '../../contract/management/permissions.ts';
import { onSessionOver, send } from './send.ts';
import type { Refusal } from './send.ts';

export interface SignedIn {
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'analyst' | 'viewer';
  account: { id: string; tier: string };
  permissions: Partial<Record<Feature, readonly Permission[]>>;
}

export type SessionState =
  | { kind: 'unknown' }
  | { kind: 'signed-out'; hasEnded: boolean }
  | { kind: 'signed-in'; user: SignedIn }
  | { kind: 'failed'; error: Refusal };

export const session = signal<SessionState>({ kind: 'unknown' });

onSessionOver(() => {
  session.value = { kind: 'signed-out', hasEnded: session.value.kind === 'signed-in' };
});

/** Asks who is signed in. */
export async function loadSession(): Promise<void> {
  const answer = await send({ method: 'GET', path: '/console/auth/me' });
  if (answer.ok) session.value = { kind: 'signed-in', user: answer.value as SignedIn };
  else if (answer.error.status === 401) session.value = { kind: 'signed-out', hasEnded: false };
  else session.value = { kind: 'failed', error: answer.error };
}

/** Whether the signed-in user's role has one of the permissions. */
export function may(...permissions: Permission[]): boolean {
  const state = session.value;
  if (state.kind !== 'signed-in') return false;
  const held = Object.values(state.user.permissions).flat();
  return permissions.some((permission) => held.includes(permission));
}
