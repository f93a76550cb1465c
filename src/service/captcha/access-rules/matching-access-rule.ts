/**
 * What the account's access control rules say of a visitor, within a second or two of a change. Errors
 * are the caller's to see: this side fails closed (design 8).
 */
import { compileAccessRules, matchAccessRule } from '../../../captcha/plan/access-rules.ts';
import type { AccessVisitor, CompiledAccessRules, MatchedAccessRule } from '../../../captcha/plan/access-rules.ts';
import { accessRulesFor } from './cached-access-rules.ts';
import type { AccessRuleSet } from './cached-access-rules.ts';
import type { ServiceStore } from '../../environment.ts';

/** By the rules they were made of: forgotten with them. */
const compiledRules = new WeakMap<AccessRuleSet, CompiledAccessRules>();

export async function accessDemand(
  store: ServiceStore,
  accountId: string,
  visitor: AccessVisitor,
  nowMs: number,
): Promise<MatchedAccessRule | null> {
  const set = await accessRulesFor(store, accountId, nowMs);
  if (set.rules.length === 0) return null;
  let compiled = compiledRules.get(set);
  if (compiled === undefined) compiledRules.set(set, (compiled = compileAccessRules(set.rules)));
  return matchAccessRule(compiled, visitor, nowMs);
}
