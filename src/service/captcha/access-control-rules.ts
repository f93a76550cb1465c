/**
 * The live access control rules of an account, for challenges and verification. Each isolate keeps them, and compares
 * them with the account's version at most once a second. So a change acts within two seconds, and a request in between
 * costs no read. Only settled values are kept, never promises: on Workers, a promise that a cancelled request began may
 * never settle.
 */
import {
  accessControlVersion,
  type DecidingRule,
  liveAccessControlRules,
} from '../../store/d1/access-control-rules.ts';
import type { ServiceStore } from '../environment.ts';
import {
  type AccessVisitor,
  compileAccessRules,
  type CompiledAccessRules,
  matchAccessRule,
  type MatchedAccessRule,
} from '../../captcha/plan/access-rules.ts';

interface AccessControlRuleSet {
  /** Equal versions have equal rules. */
  version: number;
  /** Some may have expired since they were read; compare `expiry`. */
  rules: readonly DecidingRule[];
}

interface Kept {
  checkedAtMs: number;
  set: AccessControlRuleSet;
  /** Estimated size in memory. */
  bytes: number;
}

const CHECK_AFTER_MS = 1000;
/** For all accounts together. Two of the largest accounts fit, out of the 128 MB of an isolate. */
const KEPT_MAX_BYTES = 40_000_000;
/** Measured size of a rule and of a condition, without their texts. */
const RULE_BYTES = 350;
const CONDITION_BYTES = 100;
/** Of the entry of an account without rules. */
const ACCOUNT_BYTES = 500;
const keptByDatabase = new WeakMap<object, Map<string, Kept>>();

export async function accessControlRulesFor(
  store: ServiceStore,
  accountId: string,
  nowMs: number,
): Promise<AccessControlRuleSet> {
  let accounts = keptByDatabase.get(store.DB);
  if (!accounts) keptByDatabase.set(store.DB, (accounts = new Map()));
  const kept = accounts.get(accountId);
  if (kept && nowMs - kept.checkedAtMs < CHECK_AFTER_MS) return kept.set;
  // While one request reads the version, the others use the kept rules. If that request is cancelled, another one reads
  // the version a second later.
  const checkedBeforeMs = kept?.checkedAtMs ?? 0;
  if (kept) kept.checkedAtMs = nowMs;
  try {
    const version = await accessControlVersion(store, accountId);
    if (kept?.set.version === version) return kept.set;
    const set = { version, rules: version === 0 ? [] : await liveAccessControlRules(store, accountId, nowMs) };
    keep(accounts, accountId, { checkedAtMs: nowMs, set, bytes: bytesOf(set.rules) });
    return set;
  } catch (error) {
    // The caller refuses; the next request reads the version again.
    if (kept) kept.checkedAtMs = checkedBeforeMs;
    throw error;
  }
}

/** Drops the accounts whose rules were read longest ago, until the new entry fits. */
function keep(accounts: Map<string, Kept>, accountId: string, kept: Kept): void {
  accounts.delete(accountId);
  let total = kept.bytes;
  for (const { bytes } of accounts.values()) total += bytes;
  for (const [other, { bytes }] of accounts) {
    if (total <= KEPT_MAX_BYTES) break;
    accounts.delete(other);
    total -= bytes;
  }
  accounts.set(accountId, kept);
}

function bytesOf(rules: readonly DecidingRule[]): number {
  let bytes = ACCOUNT_BYTES;
  for (const { conditions } of rules) {
    bytes += RULE_BYTES;
    for (const { value } of conditions) bytes += CONDITION_BYTES + value.length;
  }
  return bytes;
}

/** By the rules that they were compiled from, and dropped together with them. */
const compiledRules = new WeakMap<AccessControlRuleSet, CompiledAccessRules>();

/**
 * The access control rule of an account that matches a visitor. A change acts within two seconds. An error is left to
 * the caller, and every caller refuses then: a block rule must not fail open.
 */
export async function matchingAccessControlRule(
  store: ServiceStore,
  accountId: string,
  visitor: AccessVisitor,
  nowMs: number,
): Promise<MatchedAccessRule | null> {
  const set = await accessControlRulesFor(store, accountId, nowMs);
  if (set.rules.length === 0) return null;
  let compiled = compiledRules.get(set);
  if (compiled === undefined) compiledRules.set(set, (compiled = compileAccessRules(set.rules)));
  return matchAccessRule(compiled, visitor, nowMs);
}
