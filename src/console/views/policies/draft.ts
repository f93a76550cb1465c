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
