/** The rules of an opened snapshot, in the form in which they were added, for comparing round trips. */
import { decisions } from '../../src/contract/vocabulary.ts';
import { EXTRA } from '../../src/rules/rule-meta.ts';
import type { Snapshot } from '../../src/rules/snapshot.ts';
import type { EdgeRule } from '../../src/rules/types.ts';

/** The rule with this number, including its expiry and rollout. */
export function ruleAt(snapshot: Snapshot, rule: number): EdgeRule {
  const type = snapshot.type(rule);
  const value = snapshot.value(rule);
  const code = snapshot.code(rule);
  if (code !== EXTRA) return { type, value, verdict: decisions[code] ?? 'block' };
  const { verdict, mode, expiry, rollout } = snapshot.extras.read(snapshot.extras.row(rule));
  return {
    type,
    value,
    verdict,
    ...(mode === 'monitor' ? { mode } : {}),
    ...(expiry === null ? {} : { expiry }),
    ...(rollout === null ? {} : { rollout: rollout / 100 }),
  };
}

export function rulesOf(snapshot: Snapshot): EdgeRule[] {
  return Array.from({ length: snapshot.ruleCount }, (_, rule) => ruleAt(snapshot, rule));
}
