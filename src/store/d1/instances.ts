/**
 * Protect instances in D1. Deleting an instance makes it inactive. Among active instances, partial unique indexes allow a
 * `cname` once in an account and a global site key once, so that of two parallel creations one fails.
 */
import { statement } from '../sql.ts';
import { attackStateOf, type AttackState } from '../../attack/attack-state.ts';
import {
  instanceSettings,
  type InstanceSettings,
  type ProtectInstance,
} from '../../contract/management/instance-settings.ts';
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { flag, fromRow, plain, type Row } from './rows.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';

const INSTANCE_ID_BYTES = 12;
/** How many deleted instances are listed, the latest first. */
const DELETED_LISTED_MAX = 100;

/** An instance with its account and its attack state. They never leave the service with it. */
export interface StoredInstance extends ProtectInstance {
  accountId: string;
  /** Rises with every change; an optimistic update compares it. */
  version: number;
  /** Of its policy set, which is stored apart; 0 before the first one. */
  policyVersion: number;
  attack: AttackState;
}

/** `site-inactive`: the site was deactivated at the same time. */
export type InstanceConflict = 'cname-taken' | 'site-key-taken' | 'site-inactive';

/** An instance by id, active or not, of any account: callers check `active` and `accountId`. */
export async function instanceById(env: StoreEnv, id: string): Promise<StoredInstance | null> {
  const row = await statement(env)`SELECT * FROM protect_instances WHERE id = ${id}`.first<Row>();
  return row ? storedInstance(row) : null;
}

/** The account's active instances, oldest first: the one with this global site key, or without a key up to `limit`. */
export async function activeInstancesOf(
  env: StoreEnv,
  accountId: string,
  { siteKey, limit }: { siteKey: string | undefined; limit: number },
): Promise<StoredInstance[]> {
  const { results } = await statement(env)`
    SELECT * FROM protect_instances WHERE account_id = ${accountId} AND active = 1 AND (${siteKey ?? null} IS NULL
      OR global_site_key = ${siteKey ?? null})
    ORDER BY created_at, id LIMIT ${limit}`.all<Row>();
  return results.map(storedInstance);
}

/** Every active instance of an account and the latest deleted ones, oldest first. */
export async function instancesOfAccount(env: StoreEnv, accountId: string): Promise<StoredInstance[]> {
  const { results } = await statement(env)`
    SELECT * FROM protect_instances WHERE account_id = ${accountId} AND (active = 1 OR id IN (
      SELECT id FROM protect_instances WHERE account_id = ${accountId} AND active = 0 ORDER BY updated_at DESC, id
        LIMIT ${DELETED_LISTED_MAX}))
    ORDER BY created_at, id`.all<Row>();
  return results.map(storedInstance);
}

/** Creates an active instance. Fails when the `cname` or the site key is taken, or the site is not active. */
export async function createInstance(
  env: StoreEnv,
  instance: { accountId: string; name: string; cname: string; globalSiteKey: string; policy: InstanceSettings },
  nowMs: number,
): Promise<Result<StoredInstance, InstanceConflict>> {
  const id = `inst_${randomToken(INSTANCE_ID_BYTES)}`;
  const created = await statement(env)`
    INSERT INTO protect_instances (id, account_id, name, cname, global_site_key, policy, created_at, updated_at)
    SELECT ${id}, ${instance.accountId}, ${instance.name}, ${instance.cname}, ${instance.globalSiteKey},
      ${JSON.stringify(instance.policy)}, ${nowMs}, ${nowMs}
    WHERE (SELECT COUNT(*) FROM protect_instances WHERE account_id = ${instance.accountId}
      AND active = 1) < ${accountLimits['active Protect instances']}
      AND EXISTS (SELECT 1 FROM sites WHERE site_key = ${instance.globalSiteKey}
        AND account_id = ${instance.accountId} AND active = 1)
    ON CONFLICT DO NOTHING RETURNING *`.first<Row>();
  return created ? ok(storedInstance(created)) : failed(await conflictOf(env, { id, ...instance }));
}

/** Fails with `'stale'` when another call changed the instance since `expectedVersion` was read. */
export async function updateInstance(
  env: StoreEnv,
  instance: {
    id: string;
    accountId: string;
    name: string;
    cname: string;
    globalSiteKey: string;
    policy: InstanceSettings;
  },
  clientJwtsRevokedBefore: number | null,
  expectedVersion: number,
  nowMs: number,
): Promise<Result<null, 'stale' | InstanceConflict>> {
  const result = await statement(env)`
    UPDATE OR IGNORE protect_instances SET name = ${instance.name}, cname = ${instance.cname},
      global_site_key = ${instance.globalSiteKey}, policy = ${JSON.stringify(instance.policy)},
      client_jwts_revoked_before = ${clientJwtsRevokedBefore}, version = version + 1, updated_at = ${nowMs}
    WHERE id = ${instance.id} AND active = 1 AND version = ${expectedVersion}
      AND (global_site_key = ${instance.globalSiteKey} OR EXISTS (SELECT 1 FROM sites
        WHERE site_key = ${instance.globalSiteKey} AND active = 1))`.run();
  if (result.meta.changes === 1) return ok(null);
  const current = await instanceById(env, instance.id);
  return failed(current?.version === expectedVersion ? await conflictOf(env, instance) : 'stale');
}

/** Makes an instance inactive for good. Its client JWTs stop working; its policies and its origin's robots.txt are forgotten. */
export async function deactivateInstance(env: StoreEnv, id: string, nowMs: number): Promise<void> {
  await env.DB.batch([
    statement(env)`
      UPDATE protect_instances SET active = 0, version = version + 1, updated_at = ${nowMs}
      WHERE id = ${id} AND active = 1`,
    statement(env)`DELETE FROM robots_files WHERE instance_id = ${id}`,
    statement(env)`DELETE FROM policy_sets WHERE instance_id = ${id}`,
  ]);
}

/** Instances deleted at `moment` or later, at most 1,000. */
export async function instancesDeletedSince(env: StoreEnv, moment: number): Promise<string[]> {
  // An inactive instance never changes again, so its last change is its deletion.
  const { results } = await statement(env)`
    SELECT id FROM protect_instances
    WHERE active = 0 AND updated_at >= ${moment} ORDER BY updated_at LIMIT 1000`.all<{ id: string }>();
  return results.map(({ id }) => id);
}

async function conflictOf(
  env: StoreEnv,
  instance: { id: string; accountId: string; cname: string; globalSiteKey: string },
): Promise<InstanceConflict> {
  const row = await statement(env)`
    SELECT EXISTS (SELECT 1 FROM protect_instances
      WHERE account_id = ${instance.accountId} AND cname = ${instance.cname} AND active = 1
        AND id <> ${instance.id}) AS cname,
    EXISTS (SELECT 1 FROM protect_instances WHERE global_site_key = ${instance.globalSiteKey} AND active = 1
      AND id <> ${instance.id}) AS siteKey,
    EXISTS (SELECT 1 FROM sites
    WHERE site_key = ${instance.globalSiteKey} AND active = 1) AS siteActive`.first<{
    cname: number;
    siteKey: number;
    siteActive: number;
  }>();
  if (row?.cname) return 'cname-taken';
  if (row?.siteKey) return 'site-key-taken';
  if (!row?.siteActive) return 'site-inactive';
  throw new AccountLimitError('active Protect instances');
}

const instanceFields = fromRow<Omit<StoredInstance, keyof InstanceSettings | 'attack'>>({
  id: plain(),
  accountId: plain(),
  name: plain(),
  cname: plain(),
  globalSiteKey: plain(),
  active: flag(),
  clientJwtsRevokedBefore: plain(),
  version: plain(),
  policyVersion: plain(),
  createdAt: plain(),
  updatedAt: plain(),
});

export function storedInstance(row: Row): StoredInstance {
  return {
    // Parsed, not cast: a policy that was written before a field existed gets the field's default.
    ...instanceSettings.parse(JSON.parse(row['policy'] as string)),
    ...instanceFields(row),
    attack: attackStateOf(row['attack'] as string | null),
  };
}
