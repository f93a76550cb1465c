/**
 * Access control rules in D1: one row per account and set of conditions. Every write raises the account's version, and
 * readers keep their compiled rules until the version changes.
 */
import type { AccessConditionField, AccessRestriction } from '../../contract/management/access-control-rule.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { fromRow, type Row } from './rows.ts';

export interface AccessCondition {
  field: AccessConditionField;
  /** In canonical spelling. */
  value: string;
}

export interface AccessControlRule {
  userScopeHash: string;
  type: 'block' | 'restrict';
  description: string | null;
  conditions: readonly AccessCondition[];
  restriction: AccessRestriction;
  ruleGroupId: string | null;
  /** Epoch milliseconds; after this time the rule matches no visitor. */
  expiry: number;
  createdAt: number;
  updatedAt: number;
}

export const accessControlRuleSortKeys = [
  'createdAt',
  'description',
  'expiry',
  'userScopeHash',
  'ruleGroupId',
] as const;
type AccessControlRuleSortKey = (typeof accessControlRuleSortKeys)[number];

interface AccessControlRulePage {
  rules: AccessControlRule[];
  /** How many rules match the filter. */
  total: number;
  /** All groups of the account, those with the most rules first. */
  groups: { ruleGroupId: string; count: number }[];
}

const accessControlRule = fromRow<AccessControlRule>({
  userScopeHash: 'plain',
  type: 'plain',
  description: 'plain',
  conditions: 'json',
  restriction: 'json',
  ruleGroupId: 'plain',
  expiry: 'plain',
  createdAt: 'plain',
  updatedAt: 'plain',
});

/** A rule without restrictions is stored with `NULL`. */
function withRestriction<Rule extends Pick<AccessControlRule, 'restriction'>>(rule: Rule): Rule {
  return { ...rule, restriction: rule.restriction ?? {} };
}

/** Rules per account: one isolate compiles and holds this many in about 20 MB. */
export const ACCESS_CONTROL_RULES_MAX = 50_000;
/**
 * Total length of the conditions of one account. A rule usually has about 40 characters, but a user agent may have
 * 16,384.
 */
export const ACCESS_CONDITIONS_MAX_CHARS = 8_000_000;
/** How many groups one listing counts. */
const GROUPS_LISTED_MAX = 1000;
const sortColumn: Readonly<Record<AccessControlRuleSortKey, string>> = {
  createdAt: 'created_at',
  description: 'description',
  expiry: 'expiry',
  userScopeHash: 'user_scope_hash',
  ruleGroupId: 'rule_group_id',
};

/**
 * Adds a rule, or replaces the rule with the same conditions. Fails with `'full'` when the account is at one of its
 * limits.
 */
export async function putAccessControlRule(
  env: StoreEnv,
  accountId: string,
  rule: Omit<AccessControlRule, 'createdAt' | 'updatedAt'>,
  nowMs: number,
): Promise<Result<null, 'full'>> {
  const [write] = await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO access_control_rules (account_id, user_scope_hash, type, description, conditions, restriction,
         rule_group_id, expiry, created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9
       WHERE EXISTS (SELECT 1 FROM access_control_rules WHERE account_id = ?1 AND user_scope_hash = ?2)
         OR (SELECT COUNT(*) < ?10 AND TOTAL(length(conditions)) + length(?5) <= ?11
             FROM access_control_rules WHERE account_id = ?1)
       ON CONFLICT (account_id, user_scope_hash) DO UPDATE SET type = excluded.type,
         description = excluded.description, conditions = excluded.conditions, restriction = excluded.restriction,
         rule_group_id = excluded.rule_group_id, expiry = excluded.expiry, updated_at = excluded.updated_at`,
    ).bind(
      accountId,
      rule.userScopeHash,
      rule.type,
      rule.description,
      JSON.stringify(rule.conditions),
      Object.keys(rule.restriction).length === 0 ? null : JSON.stringify(rule.restriction),
      rule.ruleGroupId,
      rule.expiry,
      nowMs,
      ACCESS_CONTROL_RULES_MAX,
      ACCESS_CONDITIONS_MAX_CHARS,
    ),
    raiseAccessControlVersion(env, accountId),
  ]);
  return write?.meta.changes === 0 ? failed('full') : ok(null);
}

/** Returns whether the account had this rule. */
export async function deleteAccessControlRule(
  env: StoreEnv,
  accountId: string,
  userScopeHash: string,
): Promise<boolean> {
  const [write] = await env.DB.batch([
    env.DB.prepare('DELETE FROM access_control_rules WHERE account_id = ? AND user_scope_hash = ?').bind(
      accountId,
      userScopeHash,
    ),
    raiseAccessControlVersion(env, accountId),
  ]);
  return write?.meta.changes === 1;
}

/** One page of the account's rules, including expired ones. The first `page` is 1. */
export async function accessControlRulePage(
  env: StoreEnv,
  accountId: string,
  query: {
    page: number;
    limit: number;
    ruleGroupId?: string | undefined;
    sortBy: AccessControlRuleSortKey;
    descending: boolean;
  },
): Promise<AccessControlRulePage> {
  const direction = query.descending ? 'DESC' : 'ASC';
  const filter = query.ruleGroupId === undefined ? '' : 'AND rule_group_id = ?2';
  const bound = query.ruleGroupId === undefined ? [accountId] : [accountId, query.ruleGroupId];
  const next = bound.length + 1;
  const order = (table: string) =>
    `${table}${sortColumn[query.sortBy]} ${direction}, ${table}user_scope_hash ${direction}`;
  const [rows, count, groups] = await env.DB.batch<any>([
    env.DB.prepare(
      // The page is found in the index alone, and only then are its rows read, so that an offset reads no skipped row.
      // The hash breaks ties, so that pages neither repeat nor skip a rule.
      `WITH page AS (
         SELECT account_id, user_scope_hash FROM access_control_rules WHERE account_id = ?1 ${filter}
         ORDER BY ${order('')} LIMIT ?${next} OFFSET ?${next + 1})
       SELECT rule.* FROM page JOIN access_control_rules AS rule USING (account_id, user_scope_hash)
       ORDER BY ${order('rule.')}`,
    ).bind(...bound, query.limit, (query.page - 1) * query.limit),
    env.DB.prepare(`SELECT COUNT(*) AS total FROM access_control_rules WHERE account_id = ?1 ${filter}`).bind(...bound),
    env.DB.prepare(
      `SELECT rule_group_id AS ruleGroupId, COUNT(*) AS count FROM access_control_rules
       WHERE account_id = ? AND rule_group_id IS NOT NULL GROUP BY rule_group_id ORDER BY count DESC, ruleGroupId LIMIT ?`,
    ).bind(accountId, GROUPS_LISTED_MAX),
  ]);
  return {
    rules: ((rows?.results ?? []) as Row[]).map((row) => withRestriction(accessControlRule(row))),
    total: ((count?.results ?? []) as { total: number }[])[0]?.total ?? 0,
    groups: (groups?.results ?? []) as AccessControlRulePage['groups'],
  };
}

/** Every write of rules includes this statement in its transaction. */
export function raiseAccessControlVersion(env: StoreEnv, accountId: string) {
  return env.DB.prepare(
    `INSERT INTO access_control_versions (account_id, version) VALUES (?, 1)
     ON CONFLICT (account_id) DO UPDATE SET version = version + 1`,
  ).bind(accountId);
}

export async function accessControlVersion(env: StoreEnv, accountId: string): Promise<number> {
  const row = await env.DB.prepare('SELECT version FROM access_control_versions WHERE account_id = ?')
    .bind(accountId)
    .first<{ version: number }>();
  return row?.version ?? 0;
}

/** The fields that a decision needs. The description and the group would double the memory. */
export type DecidingRule = Pick<AccessControlRule, 'userScopeHash' | 'type' | 'conditions' | 'restriction' | 'expiry'>;

const decidingRule = fromRow<DecidingRule>({
  userScopeHash: 'plain',
  type: 'plain',
  conditions: 'json',
  restriction: 'json',
  expiry: 'plain',
});

/** Every rule of the account that has not expired at `nowMs`. */
export async function liveAccessControlRules(env: StoreEnv, accountId: string, nowMs: number): Promise<DecidingRule[]> {
  const { results } = await env.DB.prepare(
    `SELECT user_scope_hash, type, conditions, restriction, expiry FROM access_control_rules
     WHERE account_id = ? AND expiry > ? LIMIT ?`,
  )
    .bind(accountId, nowMs, ACCESS_CONTROL_RULES_MAX)
    .all<Row>();
  return results.map((row) => withRestriction(decidingRule(row)));
}

/** Deletes rules that expired before `before`, at most `limit` of them; returns how many. */
export async function purgeExpiredAccessControlRules(env: StoreEnv, before: number, limit: number): Promise<number> {
  const result = await env.DB.prepare(
    `DELETE FROM access_control_rules WHERE (account_id, user_scope_hash) IN (
       SELECT account_id, user_scope_hash FROM access_control_rules WHERE expiry < ? LIMIT ?)`,
  )
    .bind(before, limit)
    .run();
  return result.meta.changes;
}
