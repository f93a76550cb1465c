/** How the service reaches the RuleBook of an instance, within the deployment's jurisdiction. */
import type { PackedRulePage, RuleBook } from './object/rule-book.ts';
import type { RulePageQuery } from './object/list-rules.ts';
import { storedRules } from './rule-row.ts';
import type { StoredRule } from './rule-row.ts';

export interface RulePage extends Omit<PackedRulePage, 'packed'> {
  rules: StoredRule[];
}

export function ruleBook(env: ServiceEnv, instanceId: string): DurableObjectStub<RuleBook> {
  const { RULE_BOOK: namespace, JURISDICTION: jurisdiction } = env;
  const pinned = jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
  return pinned.get(pinned.idFromName(instanceId));
}

export async function rulePage(book: DurableObjectStub<RuleBook>, query: RulePageQuery): Promise<RulePage> {
  const { packed, total, version } = await book.packedPage(query);
  return { rules: storedRules(packed), total, version };
}
