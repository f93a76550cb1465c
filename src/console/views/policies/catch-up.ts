/**
 * A draft on top of a version that somebody else has saved meanwhile. What only one of the two has changed is taken; what
 * both have changed stays as in the draft, and is named.
 */
import { type PolicyDraft, unchangedDraft, type DraftEntry } from './draft.ts';
import type { TextPolicy } from './policy.ts';

interface CaughtUp {
  draft: PolicyDraft;
  /** Names of the policies that both have changed. */
  both: string[];
}

export function caughtUp(draft: PolicyDraft, version: number, policies: readonly TextPolicy[]): CaughtUp {
  const theirs = unchangedDraft(version, policies).entries;
  const [before, mine, now] = [draft.base.entries, draft.entries, theirs].map(byKey) as [Known, Known, Known];
  const both: string[] = [];
  const kept = new Map<string, DraftEntry>();
  for (const key of new Set([...before.keys(), ...mine.keys(), ...now.keys()])) {
    const [was, own, other] = [before.get(key), mine.get(key), now.get(key)];
    const isOwn = !isSame(own, was);
    const isBoth = isOwn && !isSame(other, was);
    // What the draft has deleted and somebody else has changed is there again.
    const entry = isOwn ? (own ?? (isBoth ? other : undefined)) : other;
    if (entry !== undefined) kept.set(key, entry);
    if (isBoth && !isSame(own, other)) both.push(entry!.policy.name);
  }
  // Of two new ones with one name, the draft's is kept.
  for (const { key, policy } of draft.entries) {
    const twin = before.has(key) ? undefined : now.get(policy.name);
    if (twin === undefined || before.has(twin.key)) continue;
    kept.delete(twin.key);
    if (!isSame({ key, policy }, twin)) both.push(policy.name);
  }
  const isMoved = !isSameOrder(draft.base.entries, draft.entries);
  const [first, second] = isMoved ? [draft.entries, theirs] : [theirs, draft.entries];
  const order = woven(keysOf(first, kept), keysOf(second, kept));
  return {
    draft: { base: { version, entries: theirs }, entries: order.map((key) => kept.get(key)!) },
    both,
  };
}

type Known = ReadonlyMap<string, DraftEntry>;

function byKey(entries: readonly DraftEntry[]): Known {
  return new Map(entries.map((entry) => [entry.key, entry]));
}

function isSame(one: DraftEntry | undefined, other: DraftEntry | undefined): boolean {
  return JSON.stringify(one?.policy) === JSON.stringify(other?.policy);
}

function keysOf(entries: readonly DraftEntry[], kept: Known): string[] {
  return entries.map(({ key }) => key).filter((key) => kept.has(key));
}

/** Whether what both lists have is in one order. */
function isSameOrder(before: readonly DraftEntry[], after: readonly DraftEntry[]): boolean {
  const [old, now] = [byKey(before), byKey(after)];
  return keysOf(before, now).join('\n') === keysOf(after, old).join('\n');
}

/** The first list, and what only the second has, each behind the one that it stands behind there. */
function woven(first: readonly string[], second: readonly string[]): string[] {
  const known = new Set(first);
  const behind = new Map<string | null, string[]>();
  let last: string | null = null;
  for (const key of second) {
    if (known.has(key)) last = key;
    else behind.set(last, [...(behind.get(last) ?? []), key]);
  }
  return [...(behind.get(null) ?? []), ...first.flatMap((key) => [key, ...(behind.get(key) ?? [])])];
}
