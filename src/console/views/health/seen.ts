/** The counters as a person last saw them, remembered by this browser. It is a convenience: without it, all count. */
import type { Seen } from './findings.ts';

const keyOf = (instanceId: string): string => `gatehouse-health-${instanceId}`;

export interface Remembered {
  /** Epoch milliseconds; `null`: nobody said so yet. */
  at: number | null;
  values: Seen;
}

export function rememberedSeen(instanceId: string): Remembered {
  try {
    const stored = JSON.parse(localStorage.getItem(keyOf(instanceId)) ?? 'null') as Remembered | null;
    if (typeof stored?.at === 'number' && typeof stored.values === 'object') return stored;
  } catch {
    // The browser stores nothing for this page, or another version stored something else.
  }
  return { at: null, values: {} };
}

export function rememberSeen(instanceId: string, values: Seen): void {
  try {
    localStorage.setItem(keyOf(instanceId), JSON.stringify({ at: Date.now(), values } satisfies Remembered));
  } catch {
    // As above.
  }
}
