/**
 * The live rules of an account for whoever decides by them (challenge, verification). Kept per isolate and
 * checked against the account's version at most once a second, so that a change acts within two and a
 * request in between costs no read. Settled values are kept, never promises: one that a cancelled
 * request began may never settle on Workers.
 */
import { accessRulesVersion, liveAccessRules } from '../../../store/d1/access-control-rules.ts';
import type { DecidingRule } from '../../../store/d1/access-control-rules.ts';
import type { ServiceStore } from '../../environment.ts';

export interface AccessRuleSet {
  /** Equal versions hold equal rules: what a compiled form is kept by. */
  version: number;
  /** Some may have expired since they were read: compare `expiry`. */
  rules: readonly DecidingRule[];
}

interface Kept {
  checkedAt: number;
  set: AccessRuleSet;
  /** About what it takes in memory. */
  bytes: number;
}

const CHECK_AFTER_MILLISECONDS = 1000;
/** Of all accounts together: two of the largest fit, beside all else that an isolate of 128 MB does. */
const KEPT_MAX_BYTES = 40_000_000;
/** Of a rule and of one condition, beside their text; measured. */
const RULE_BYTES = 350;
const CONDITION_BYTES = 100;
/** Even an account without rules is an entry. */
const ACCOUNT_BYTES = 500;
const keptByDatabase = new WeakMap<object, Map<string, Kept>>();

export async function accessRulesFor(store: ServiceStore, accountId: string, nowMs: number): Promise<AccessRuleSet> {
  let accounts = keptByDatabase.get(store.DB);
  if (!accounts) keptByDatabase.set(store.DB, (accounts = new Map()));
  const kept = accounts.get(accountId);
  if (kept && nowMs - kept.checkedAt < CHECK_AFTER_MILLISECONDS) return kept.set;
  // While one request looks, the others go on with what is there; if it is cancelled, the next second's looks.
  const checkedBefore = kept?.checkedAt ?? 0;
  if (kept) kept.checkedAt = nowMs;
  try {
    const version = await accessRulesVersion(store, accountId);
    if (kept?.set.version === version) return kept.set;
    const set = { version, rules: version === 0 ? [] : await liveAccessRules(store, accountId, nowMs) };
    keep(accounts, accountId, { checkedAt: nowMs, set, bytes: bytesOf(set.rules) });
    return set;
  } catch (error) {
    // A failed look counts for nothing: the caller refuses, the next one looks again.
    if (kept) kept.checkedAt = checkedBefore;
    throw error;
  }
}

/** The accounts whose rules were read longest ago make room. */
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
