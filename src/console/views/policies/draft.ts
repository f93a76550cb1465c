/**
 * Changes to the policies of an instance that are not saved yet: one list, which is saved as one version. Limits and
 * origins are not in it: what a call does not name stays as it is stored.
 */
import { diffItems, type ItemDifference } from '../../../policies/diff.ts';
import type { TextPolicy } from './policy.ts';
import { PolicyNames } from '../../../policies/import/report.ts';

export interface DraftEntry {
  /** The same however often the policy is renamed and moved. */
  key: string;
  policy: TextPolicy;
}

export interface PolicyDraft {
  /** What is changed: the version that was current when the draft was begun, or last caught up. */
  base: { version: number; entries: readonly DraftEntry[] };
  entries: readonly DraftEntry[];
}

/** A draft that changes nothing. */
export function unchangedDraft(version: number, policies: readonly TextPolicy[]): PolicyDraft {
  const entries = policies.map((policy) => ({ key: policy.name, policy }));
  return { base: { version, entries }, entries };
}

/** Limits and origins are changed elsewhere. A version with the same policies is one that the draft can be saved on. */
export function onVersion(draft: PolicyDraft, version: number, policies: readonly TextPolicy[]): PolicyDraft {
  const { entries } = draft.base;
  const isSame = JSON.stringify(policiesOf(entries)) === JSON.stringify(policies);
  return isSame ? { ...draft, base: { version, entries } } : draft;
}

export function draftChanges({ base, entries }: PolicyDraft): ItemDifference<TextPolicy>[] {
  return diffItems(policiesOf(base.entries), policiesOf(entries));
}

export function policiesOf(entries: readonly DraftEntry[]): TextPolicy[] {
  return entries.map(({ policy }) => policy);
}

/** Keys of new policies: no stored one has a name with a space. */
export function withAdded(
  draft: PolicyDraft,
  policies: readonly TextPolicy[],
  place: 'start' | 'end' = 'end',
): PolicyDraft {
  const used = new Set([...draft.base.entries, ...draft.entries].map(({ key }) => key));
  let number = 0;
  const added = policies.map((policy) => {
    do number += 1;
    while (used.has(`new ${number}`));
    return { key: `new ${number}`, policy };
  });
  return { ...draft, entries: place === 'start' ? [...added, ...draft.entries] : [...draft.entries, ...added] };
}

export function withPolicy(draft: PolicyDraft, key: string, policy: TextPolicy): PolicyDraft {
  return { ...draft, entries: draft.entries.map((entry) => (entry.key === key ? { key, policy } : entry)) };
}

export function without(draft: PolicyDraft, key: string): PolicyDraft {
  return { ...draft, entries: draft.entries.filter((entry) => entry.key !== key) };
}

/** @param place from 0 in the new list; beyond the end is the end. */
export function moved(draft: PolicyDraft, key: string, place: number): PolicyDraft {
  const entry = draft.entries.find((one) => one.key === key);
  if (entry === undefined) return draft;
  const entries = draft.entries.filter((one) => one !== entry);
  entries.splice(Math.max(0, place), 0, entry);
  return { ...draft, entries };
}

export type ImportPlace = 'end' | 'start' | 'replace';

/** Imported policies in a draft: each under a name that no other one has. */
export function withImported(draft: PolicyDraft, policies: readonly TextPolicy[], place: ImportPlace): PolicyDraft {
  const kept = place === 'replace' ? { ...draft, entries: [] } : draft;
  const names = new PolicyNames(policiesOf(kept.entries).map(({ name }) => name));
  const renamed = policies.map((policy) => ({ ...policy, name: names.next(policy.name, policy.name) }));
  return withAdded(kept, renamed, place === 'start' ? 'start' : 'end');
}

/**
 * A draft on top of a version that somebody else has saved meanwhile. What only one of the two has changed is taken; what
 * both have changed stays as in the draft, and is named.
 */
interface CaughtUp {
  draft: PolicyDraft;
  /** Names of the policies that both have changed. */
  both: string[];
}

/**
 * A draft on top of a version that somebody else has saved meanwhile. What only one of the two has changed is taken; what
 * both have changed stays as in the draft, and is named.
 */
export function caughtUp(draft: PolicyDraft, version: number, policies: readonly TextPolicy[]): CaughtUp {
  const theirs = unchangedDraft(version, policies).entries;
  const [before, mine, now] = [draft.base.entries, draft.entries, theirs].map(byKey) as [Known, Known, Known];
  const both: string[] = [];
  const kept = new Map<string, DraftEntry>();
  for (const key of new Set([...before.keys(), ...mine.keys(), ...now.keys()])) {
    const [was, own, other] = [before.get(key), mine.get(key), now.get(key)];
    const isOwn = !isSameEntry(own, was);
    const isBoth = isOwn && !isSameEntry(other, was);
    // What the draft has deleted and somebody else has changed is there again.
    const entry = isOwn ? (own ?? (isBoth ? other : undefined)) : other;
    if (entry !== undefined) kept.set(key, entry);
    if (isBoth && !isSameEntry(own, other)) both.push(entry!.policy.name);
  }
  // If both sides added a policy of the same name, the one of the draft is kept.
  for (const { key, policy } of draft.entries) {
    const twin = before.has(key) ? undefined : now.get(policy.name);
    if (twin === undefined || before.has(twin.key)) continue;
    kept.delete(twin.key);
    if (!isSameEntry({ key, policy }, twin)) both.push(policy.name);
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

function isSameEntry(one: DraftEntry | undefined, other: DraftEntry | undefined): boolean {
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
