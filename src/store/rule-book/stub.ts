/** How the service reaches the RuleBook of an instance, within the deployment's jurisdiction. */
import type { RuleBook } from '../rule-book.ts';

export function ruleBook(env: ServiceEnv, instanceId: string): DurableObjectStub<RuleBook> {
  const namespace = env.RULE_BOOK as unknown as DurableObjectNamespace<RuleBook>;
  const { JURISDICTION: jurisdiction } = env;
  const pinned = jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
  return pinned.get(pinned.idFromName(instanceId));
}
