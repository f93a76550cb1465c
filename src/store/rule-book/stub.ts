/** How the service reaches the RuleBook of an instance, within the deployment's jurisdiction. */
import type { RuleBook } from '../rule-book.ts';

export function ruleBook(env: ServiceEnv, instanceId: string): DurableObjectStub<RuleBook> {
  const { RULE_BOOK: namespace, JURISDICTION: jurisdiction } = env;
  const pinned = jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
  return pinned.get(pinned.idFromName(instanceId));
}
