/**
 * Access control rules in D1: one row per account and set of conditions. Every write raises the account's version, and
 * readers keep their compiled rules until the version changes.
 */
import { sql, type Sql, statement } from '../sql.ts';
import type { AccessConditionField, AccessRestriction } from '../../contract/management/access-control-rule.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';

export interface AccessCondition {
  field: AccessConditionField;
  /** In canonical spelling. */
  value: string;
}

const accessControlRule = fromRow({
  userScopeHash: plain<string>(),
  type: plain<'block' | 'restrict'>(),
  description: plain<string | null>(),
  conditions: fromJson<readonly AccessCondition[]>(),
  restriction: fromJson<AccessRestriction>(),
  ruleGroupId: plain<string | null>(),
  /** Epoch milliseconds; after this time the rule matches no visitor. */
  expiry: plain<number>(),
  createdAt: plain<number>(),
  updatedAt: plain<number>(),
});
export type AccessControlRule = ReturnType<typeof accessControlRule>;

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
const sortColumn: Readonly<Record<AccessControlRuleSortKey, Sql>> = {
  createdAt: sql`created_at`,
  description: sql`description`,
  expiry: sql`expiry`,
  userScopeHash: sql`user_scope_hash`,
  ruleGroupId: sql`rule_group_id`,
};

/**
 * Adds a rule, or replaces the rule with the same conditions, and returns that one. Fails with `'full'` when the account is
 * at one of its limits.
 */
export async function putAccessControlRule(
  env: StoreEnv,
  accountId: string,
  rule: Omit<AccessControlRule, 'createdAt' | 'updatedAt'>,
  nowMs: number,
): Promise<Result<AccessControlRule | null, 'full'>> {
  const conditions = JSON.stringify(rule.conditions);
  const restriction = Object.keys(rule.restriction).length === 0 ? null : JSON.stringify(rule.restriction);
  const [read, write] = await env.DB.batch<Row>([
    statement(env)`
      SELECT * FROM access_control_rules
      WHERE account_id = ${accountId} AND user_scope_hash = ${rule.userScopeHash}`,
    statement(env)`
      INSERT INTO access_control_rules (account_id, user_scope_hash, type, description, conditions, restriction,
        rule_group_id, expiry, created_at, updated_at)
      SELECT ${accountId}, ${rule.userScopeHash}, ${rule.type}, ${rule.description},
        ${conditions},
        ${restriction}, ${rule.ruleGroupId},
        ${rule.expiry}, ${nowMs}, ${nowMs}
      WHERE EXISTS (SELECT 1 FROM access_control_rules WHERE account_id = ${accountId}
        AND user_scope_hash = ${rule.userScopeHash})
        OR (SELECT COUNT(*) < ${ACCESS_CONTROL_RULES_MAX}
          AND TOTAL(length(conditions)) + length(${conditions}) <= ${ACCESS_CONDITIONS_MAX_CHARS}
            FROM access_control_rules WHERE account_id = ${accountId})
      ON CONFLICT (account_id, user_scope_hash) DO UPDATE SET type = excluded.type,
        description = excluded.description, conditions = excluded.conditions, restriction = excluded.restriction,
        rule_group_id = excluded.rule_group_id, expiry = excluded.expiry, updated_at = excluded.updated_at`,
    raiseAccessControlVersion(env, accountId),
  ]);
  return write?.meta.changes === 0 ? failed('full') : ok(ruleIn(read));
}

/** Returns the rule; `null`: the account had none. */
export async function deleteAccessControlRule(
  env: StoreEnv,
  accountId: string,
  userScopeHash: string,
): Promise<AccessControlRule | null> {
  const [write] = await env.DB.batch<Row>([
    statement(env)`
      DELETE FROM access_control_rules WHERE account_id = ${accountId} AND user_scope_hash = ${userScopeHash}
      RETURNING *`,
    raiseAccessControlVersion(env, accountId),
  ]);
  return ruleIn(write);
}

function ruleIn(result: { results: Row[] } | undefined): AccessControlRule | null {
  const row = result?.results[0];
  return row === undefined ? null : withRestriction(accessControlRule(row));
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
  const direction = query.descending ? sql`DESC` : sql`ASC`;
  const filter = query.ruleGroupId === undefined ? sql`` : sql`AND rule_group_id = ${query.ruleGroupId}`;
  const column = sortColumn[query.sortBy];
  // The hash breaks ties, so that pages neither repeat nor skip a rule.
  const order = (table: Sql) => sql`${table}${column} ${direction}, ${table}user_scope_hash ${direction}`;
  // The page is found in the index alone, and only then are its rows read, so that an offset reads no skipped row.
  const [rows, count, groups] = await env.DB.batch<any>([
    statement(env)`
      WITH page AS (
        SELECT account_id, user_scope_hash FROM access_control_rules
        WHERE account_id = ${accountId} ${filter}
        ORDER BY ${order(sql``)} LIMIT ${query.limit} OFFSET ${(query.page - 1) * query.limit})
      SELECT rule.* FROM page JOIN access_control_rules AS rule USING (account_id, user_scope_hash)
      ORDER BY ${order(sql`rule.`)}`,
    statement(env)`SELECT COUNT(*) AS total FROM access_control_rules WHERE account_id = ${accountId} ${filter}`,
    statement(env)`
      SELECT rule_group_id AS ruleGroupId, COUNT(*) AS count FROM access_control_rules
      WHERE account_id = ${accountId} AND rule_group_id IS NOT NULL GROUP BY rule_group_id ORDER BY count DESC,
        ruleGroupId LIMIT ${GROUPS_LISTED_MAX}`,
  ]);
  return {
    rules: ((rows?.results ?? []) as Row[]).map((row) => withRestriction(accessControlRule(row))),
    total: ((count?.results ?? []) as { total: number }[])[0]?.total ?? 0,
    groups: (groups?.results ?? []) as AccessControlRulePage['groups'],
  };
}

/** Every write of rules includes this statement in its transaction. */
export function raiseAccessControlVersion(env: StoreEnv, accountId: string) {
  return statement(env)`
    INSERT INTO access_control_versions (account_id, version) VALUES (${accountId}, 1)
    ON CONFLICT (account_id) DO UPDATE SET version = version + 1`;
}

export async function accessControlVersion(env: StoreEnv, accountId: string): Promise<number> {
  const row = await statement(env)`
    SELECT version FROM access_control_versions WHERE account_id = ${accountId}`.first<{ version: number }>();
  return row?.version ?? 0;
}

/** The fields that a decision needs. The description and the group would double the memory. */
export type DecidingRule = Pick<AccessControlRule, 'userScopeHash' | 'type' | 'conditions' | 'restriction' | 'expiry'>;

const decidingRule = fromRow<DecidingRule>({
  userScopeHash: plain(),
  type: plain(),
  conditions: fromJson(),
  restriction: fromJson(),
  expiry: plain(),
});

/** Every rule of the account that has not expired at `nowMs`. */
export async function liveAccessControlRules(env: StoreEnv, accountId: string, nowMs: number): Promise<DecidingRule[]> {
  const { results } = await statement(env)`
    SELECT user_scope_hash, type, conditions, restriction, expiry FROM access_control_rules
    WHERE account_id = ${accountId} AND expiry > ${nowMs} LIMIT ${ACCESS_CONTROL_RULES_MAX}`.all<Row>();
  return results.map((row) => withRestriction(decidingRule(row)));
}

/** Deletes rules that expired before `before`, at most `limit` of them; returns how many. */
export async function purgeExpiredAccessControlRules(env: StoreEnv, before: number, limit: number): Promise<number> {
  const result = await statement(env)`
    DELETE FROM access_control_rules WHERE (account_id, user_scope_hash) IN (
    SELECT account_id, user_scope_hash FROM access_control_rules WHERE expiry < ${before} LIMIT ${limit})`.run();
  return result.meta.changes;
}
