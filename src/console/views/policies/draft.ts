/**
 * Changes to the policies of an instance that are not saved yet: one list, which is saved as one version. Limits and
 * origins are not in it: what a call does not name stays as it is stored.
 */
import { diffItems, type ItemDifference } from '../../../policies/diff.ts';
import type { Policy } from './policy.ts';
import { PolicyNames } from '../../../policies/import/report.ts';

export interface Entry {
  /** The same however often the policy is renamed and moved. */
  key: string;
  policy: Policy;
}

export interface Draft {
  /** What is changed: the version that was current when the draft was begun, or last caught up. */
  base: { version: number; entries: readonly Entry[] };
  entries: readonly Entry[];
}

/** A draft that changes nothing. */
export function draftOf(version: number, policies: readonly Policy[]): Draft {
  const entries = policies.map((policy) => ({ key: policy.name, policy }));
  return { base: { version, entries }, entries };
}

/** Limits and origins are changed elsewhere. A version with the same policies is one that the draft can be saved on. */
export function onVersion(draft: Draft, version: number, policies: readonly Policy[]): Draft {
  const { entries } = draft.base;
  const isSame = JSON.stringify(policiesOf(entries)) === JSON.stringify(policies);
  return isSame ? { ...draft, base: { version, entries } } : draft;
}

export function changesOf({ base, entries }: Draft): ItemDifference<Policy>[] {
  return diffItems(policiesOf(base.entries), policiesOf(entries));
}

export function policiesOf(entries: readonly Entry[]): Policy[] {
  return entries.map(({ policy }) => policy);
}

/** Keys of new policies: no stored one has a name with a space. */
export function withAdded(draft: Draft, policies: readonly Policy[], place: 'start' | 'end' = 'end'): Draft {
  const used = new Set([...draft.base.entries, ...draft.entries].map(({ key }) => key));
  let number = 0;
  const added = policies.map((policy) => {
    do number += 1;
    while (used.has(`new ${number}`));
    return { key: `new ${number}`, policy };
  });
  return { ...draft, entries: place === 'start' ? [...added, ...draft.entries] : [...draft.entries, ...added] };
}

export function withPolicy(draft: Draft, key: string, policy: Policy): Draft {
  return { ...draft, entries: draft.entries.map((entry) => (entry.key === key ? { key, policy } : entry)) };
}

export function without(draft: Draft, key: string): Draft {
  return { ...draft, entries: draft.entries.filter((entry) => entry.key !== key) };
}

/** @param place from 0 in the new list; beyond the end is the end. */
export function moved(draft: Draft, key: string, place: number): Draft {
  const entry = draft.entries.find((one) => one.key === key);
  if (entry === undefined) return draft;
  const entries = draft.entries.filter((one) => one !== entry);
  entries.splice(Math.max(0, place), 0, entry);
  return { ...draft, entries };
}

export type ImportPlace = 'end' | 'start' | 'replace';

/** Imported policies in a draft: each under a name that no other one has. */
export function withImported(draft: Draft, policies: readonly Policy[], place: ImportPlace): Draft {
  const kept = place === 'replace' ? { ...draft, entries: [] } : draft;
  const names = new PolicyNames(policiesOf(kept.entries).map(({ name }) => name));
  const renamed = policies.map((policy) => ({ ...policy, name: names.next(policy.name, policy.name) }));
  return withAdded(kept, renamed, place === 'start' ? 'start' : 'end');
}
