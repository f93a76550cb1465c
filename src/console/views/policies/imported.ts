/** Imported policies in a draft: each under a name that no other one has. */
import { PolicyNames } from '../../../policies/import/names.ts';
import { type Draft, policiesOf, withAdded } from './draft.ts';
import type { Policy } from './policy.ts';

export type ImportPlace = 'end' | 'start' | 'replace';

export function withImported(draft: Draft, policies: readonly Policy[], place: ImportPlace): Draft {
  const kept = place === 'replace' ? { ...draft, entries: [] } : draft;
  const names = new PolicyNames(policiesOf(kept.entries).map(({ name }) => name));
  const renamed = policies.map((policy) => ({ ...policy, name: names.next(policy.name, policy.name) }));
  return withAdded(kept, renamed, place === 'start' ? 'start' : 'end');
}
