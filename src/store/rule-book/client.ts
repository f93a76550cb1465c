/** How the service reaches the RuleBook of an instance. */
import { inJurisdiction } from '../jurisdiction.ts';
import type { PackedRulePage, RuleBookRpc, RulePageQuery } from './rpc.ts';
import { type StoredRule, storedRules } from './rule-row.ts';

type RuleBookEnv = Pick<ServiceEnv, 'RULE_BOOK' | 'JURISDICTION'>;

export interface RulePage extends Omit<PackedRulePage, 'packed'> {
  rules: StoredRule[];
}

export function ruleBook(env: RuleBookEnv, instanceId: string): RuleBookRpc {
  const namespace = inJurisdiction(env.RULE_BOOK, env.JURISDICTION);
  // The platform's stub type maps every nested field to a promise; these methods return plain data.
  return namespace.get(namespace.idFromName(instanceId)) as unknown as RuleBookRpc;
}

export async function rulePage(book: Pick<RuleBookRpc, 'packedPage'>, query: RulePageQuery): Promise<RulePage> {
  const { packed, total, version } = await book.packedPage(query);
  return { rules: storedRules(packed), total, version };
}
