/**
 * What the account's access control rules say of a visitor, within a second or two of a change. Errors
 * are the caller's to see: this side fails closed (design 8).
 */
import { compileAccessRules, matchAccessRule } from '../../challenge/access-rules.ts';
import type { AccessVisitor, CompiledAccessRules, MatchedAccessRule } from '../../challenge/access-rules.ts';
import { accessRulesFor } from '../access-control/access-rules-for.ts';

/** Accounts whose compiled rules an isolate keeps. */
const COMPILED_MAX = 200;
const compiledByDatabase = new WeakMap<object, Map<string, { version: number; compiled: CompiledAccessRules }>>();

export async function accessDemand(
  env: ServiceEnv,
  accountId: string,
  visitor: AccessVisitor,
  nowMs: number,
): Promise<MatchedAccessRule | null> {
  const { version, rules } = await accessRulesFor(env, accountId, nowMs);
  if (rules.length === 0) return null;
  let byAccount = compiledByDatabase.get(env.DB);
  if (byAccount === undefined) compiledByDatabase.set(env.DB, (byAccount = new Map()));
  let kept = byAccount.get(accountId);
  if (kept?.version !== version) {
    if (byAccount.size >= COMPILED_MAX) byAccount.clear();
    kept = { version, compiled: compileAccessRules(rules) };
    byAccount.set(accountId, kept);
  }
  return matchAccessRule(kept.compiled, visitor, nowMs);
}
