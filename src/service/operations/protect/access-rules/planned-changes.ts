/** What writing rules would change: each proposed rule against the stored one of the same type and value. */
import type { EdgeRuleCanonical } from '../../../../contract/management/edge-rule.ts';
import type { RuleKey, RuleWrite, StoredRule } from '../../../../store/rule-book/rule-row.ts';
import type { InstanceRuleBook } from '../chosen-instance.ts';
import { ruleId, canonicalRule } from './rule-response.ts';

export const ruleChanges = ['added', 'changed', 'unchanged', 'removed'] as const;
export type RuleChange = (typeof ruleChanges)[number];

/** Rules that are looked up in one call. */
const LOOKED_UP_AT_ONCE = 10_000;
/** Listed with what they are now. */
const DIFFERENCES_MAX = 1000;

interface Difference {
  change: Exclude<RuleChange, 'unchanged'>;
  /** `null`: it would be deleted. */
  rule: EdgeRuleCanonical | null;
  /** `null`: there is none yet. */
  before: EdgeRuleCanonical | null;
}

interface PlannedChanges {
  counts: Record<RuleChange, number>;
  /** The first 1,000. */
  differences: Difference[];
  /** By rule id. Rules that would be added are not in it. */
  changeOf: ReadonlyMap<string, RuleChange>;
}

/** `rules`: one for each type and value. */
export async function plannedChanges(
  book: InstanceRuleBook['book'],
  rules: readonly RuleWrite[],
  deleted: readonly RuleKey[],
): Promise<PlannedChanges> {
  const counts = { added: 0, changed: 0, unchanged: 0, removed: 0 };
  const differences: Difference[] = [];
  const changeOf = new Map<string, RuleChange>();
  const note = (change: RuleChange, key: RuleKey, rule: RuleWrite | null, before: StoredRule | null): void => {
    counts[change] += 1;
    if (change !== 'added') changeOf.set(ruleId(key), change);
    if (change === 'unchanged' || differences.length >= DIFFERENCES_MAX) return;
    differences.push({ change, rule: rule && canonicalRule(rule), before: before && canonicalRule(before) });
  };
  for await (const [rule, before] of withStored(book, rules)) {
    note(before === null ? 'added' : areEqual(rule, before) ? 'unchanged' : 'changed', rule, rule, before);
  }
  for await (const [key, before] of withStored(book, deleted)) {
    if (before !== null) note('removed', key, null, before);
  }
  return { counts, differences, changeOf };
}

async function* withStored<Key extends RuleKey>(
  book: InstanceRuleBook['book'],
  keys: readonly Key[],
): AsyncGenerator<[Key, StoredRule | null]> {
  for (let at = 0; at < keys.length; at += LOOKED_UP_AT_ONCE) {
    const part = keys.slice(at, at + LOOKED_UP_AT_ONCE);
    const wanted = part.map(({ type, value }): RuleKey => ({ type, value }));
    const found = await book.matching(wanted, '', wanted.length);
    const stored = new Map(found.rules.map((rule) => [ruleId(rule), rule]));
    for (const key of part) yield [key, stored.get(ruleId(key)) ?? null];
  }
}

function areEqual(one: RuleWrite, other: RuleWrite): boolean {
  const [a, b] = [canonicalRule(one), canonicalRule(other)];
  return (Object.keys(a) as (keyof EdgeRuleCanonical)[]).every((field) => a[field] === b[field]);
}
