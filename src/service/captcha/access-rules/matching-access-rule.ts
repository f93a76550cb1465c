/**
 * The access control rule of an account that matches a visitor. A change acts within two seconds. An error is left to
 * the caller, and every caller refuses then: a block rule must not fail open.
 */
import {
  type AccessVisitor,
  compileAccessRules,
  type CompiledAccessRules,
  matchAccessRule,
  type MatchedAccessRule,
} from '../../../captcha/plan/access-rules.ts';
import { type AccessRuleSet, accessRulesFor } from './cached-access-rules.ts';
import type { ServiceStore } from '../../environment.ts';

/** By the rules that they were compiled from, and dropped together with them. */
const compiledRules = new WeakMap<AccessRuleSet, CompiledAccessRules>();

export async function matchingAccessRule(
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
