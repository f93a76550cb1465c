/**
 * The live rules of an account for whoever decides by them (challenge, verification). Kept per isolate and
 * checked against the account's version at most once a second, so that a change acts within two and a
 * request in between costs no read. Settled values are kept, never promises: one that a cancelled
 * request began may never settle on Workers.
 */
import { accessRulesVersion, liveAccessRules } from '../../store/access-control-rules.ts';
import type { AccessControlRule } from '../../store/access-control-rules.ts';
import type { StoreEnv } from '../../store/binding.ts';

export interface AccessRuleSet {
  /** Equal versions hold equal rules: what a compiled form is kept by. */
  version: number;
  /** Some may have expired since they were read: compare `expiry`. */
  rules: readonly AccessControlRule[];
}

interface Kept {
  checkedAt: number;
  set: AccessRuleSet;
}

const CHECK_AFTER_MILLISECONDS = 1000;
/** Accounts per isolate; rules of a large one take about 50 MB, so the table stays small. */
const ACCOUNTS_MAX = 200;
const keptByDatabase = new WeakMap<object, Map<string, Kept>>();

export async function accessRulesFor(env: StoreEnv, accountId: string, now: number): Promise<AccessRuleSet> {
  let accounts = keptByDatabase.get(env.DB);
  if (!accounts) keptByDatabase.set(env.DB, (accounts = new Map()));
  const kept = accounts.get(accountId);
  if (kept && now - kept.checkedAt < CHECK_AFTER_MILLISECONDS) return kept.set;
  // While one request looks, the others go on with what is there; if it is cancelled, the next second's looks.
  const checkedBefore = kept?.checkedAt ?? 0;
  if (kept) kept.checkedAt = now;
  try {
    const version = await accessRulesVersion(env, accountId);
    if (kept?.set.version === version) return kept.set;
    const set = { version, rules: version === 0 ? [] : await liveAccessRules(env, accountId, now) };
    if (!kept && accounts.size >= ACCOUNTS_MAX) accounts.clear();
    accounts.set(accountId, { checkedAt: now, set });
    return set;
  } catch (error) {
    // A failed look counts for nothing: the caller refuses, the next one looks again.
    if (kept) kept.checkedAt = checkedBefore;
    throw error;
  }
}
