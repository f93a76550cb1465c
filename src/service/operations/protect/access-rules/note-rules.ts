/** Notes for the audit trail which rules a write has changed. */
import type { WriteCounts } from '../../../../store/rule-book/rpc.ts';
import type { RuleWrite } from '../../../../store/rule-book/rule-row.ts';
import type { OperationContext } from '../../define-operation.ts';
import { canonicalRule } from './rule-response.ts';

/** The first rules that changed, and the number of all. */
export function noteRules(
  { changes }: Pick<OperationContext<unknown>, 'changes'>,
  { created, updated, deleted, first }: WriteCounts,
): void {
  const things = first.map(({ value, before, after }) => ({
    name: value,
    before: before && ruleFields(before),
    after: after && ruleFields(after),
    defaults: { mode: 'enforce', rollout: 100 },
  }));
  changes.note('rule', things, { added: created, changed: updated, deleted });
}

function ruleFields(rule: RuleWrite): object {
  const { verdict, mode, expiry, rollout, note } = canonicalRule(rule);
  return { verdict, mode, expiry, rollout, note };
}
