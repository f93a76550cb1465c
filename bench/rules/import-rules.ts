/** Imports edge rules into the book of a running stack, in calls of 10,000. A call may not repeat a rule. */
import type { StackFacts } from '../../src/cli/state.ts';
import type { EdgeRule } from '../../src/rules/types.ts';
import { manage } from '../../test/support/manage.ts';

export const RULES_PER_CALL = 10_000;

type ImportedRule = Pick<EdgeRule, 'type' | 'value' | 'verdict'>;

export async function importRules(stack: StackFacts, rules: Iterable<ImportedRule>): Promise<void> {
  const batch = new Map<string, ImportedRule>();
  const send = async () => {
    await manage(stack, '/protect/access-rules/create', { rules: [...batch.values()] });
    batch.clear();
  };
  for (const { type, value, verdict } of rules) {
    batch.set(`${type} ${value}`, { type, value, verdict });
    if (batch.size === RULES_PER_CALL) await send();
  }
  if (batch.size > 0) await send();
}
