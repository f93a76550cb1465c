/**
 * The live rules of an account for whoever decides by them (challenge, verification). Kept per isolate and
 * checked against the account's version at most once a second, so that a change acts within two and a
 * request in between costs no read. One load at a time per account, however many wait for it.
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
  set: Promise<AccessRuleSet>;
}

const CHECK_AFTER_MILLISECONDS = 1000;
/** Accounts per isolate; rules of a large one take about 50 MB, so the table stays small. */
const ACCOUNTS_MAX = 200;
const keptByDatabase = new WeakMap<object, Map<string, Kept>>();

export function accessRulesFor(env: StoreEnv, accountId: string, now: number): Promise<AccessRuleSet> {
  let kept = keptByDatabase.get(env.DB);
  if (!kept) keptByDatabase.set(env.DB, (kept = new Map()));
  const known = kept.get(accountId);
  if (known && now - known.checkedAt < CHECK_AFTER_MILLISECONDS) return known.set;
  if (!known && kept.size >= ACCOUNTS_MAX) kept.clear();
  const entry: Kept = { checkedAt: now, set: refreshed(env, accountId, now, known?.set) };
  kept.set(accountId, entry);
  // A failed read must not be remembered: the caller refuses, the next one reads again.
  entry.set.catch(() => kept.get(accountId) === entry && kept.delete(accountId));
  return entry.set;
}

async function refreshed(
  env: StoreEnv,
  accountId: string,
  now: number,
  known: Promise<AccessRuleSet> | undefined,
): Promise<AccessRuleSet> {
  const [version, former] = await Promise.all([accessRulesVersion(env, accountId), known?.catch(() => undefined)]);
  if (former?.version === version) return former;
  return { version, rules: version === 0 ? [] : await liveAccessRules(env, accountId, now) };
}
