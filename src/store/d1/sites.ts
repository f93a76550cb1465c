/**
 * Sites in D1. A secret key is looked up by its SHA-256 and stored sealed beside the hash, because listings return it.
 * Look-ups during verification read one row by a unique index and open no seal.
 */
import { sql, type Sql, statement } from '../sql.ts';
import type { Site } from '../../contract/management/site.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { AccountTier } from '../../contract/vocabulary.ts';
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { flag, fromJson, fromRow, plain, type Row } from './rows.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { openAtRest, randomToken, sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';

/** A site with the account fields that verification and challenges need. */
export interface SiteRecord extends Site {
  accountId: string;
  tier: AccountTier;
  accountDisabled: boolean;
  /** Rises with every change; an optimistic update compares it. */
  version: number;
}

const siteFields = fromRow<Omit<SiteRecord, 'secretKey'>>({
  name: plain(),
  siteKey: plain(),
  settings: fromJson(),
  active: flag(),
  isDefault: flag(),
  createdAt: plain(),
  updatedAt: plain(),
  accountId: plain(),
  tier: plain(),
  accountDisabled: flag(),
  version: plain(),
  widgetSolvedAt: plain(),
  backendVerifiedAt: plain(),
});

/** A site key is public; 128 bits so that nobody finds one by guessing. */
const SITE_KEY_BYTES = 16;
const SECRET_KEY_BYTES = 32;

const SELECT_SITE = sql`
  SELECT s.*, a.tier, a.disabled AS account_disabled FROM sites s JOIN accounts a ON a.id = s.account_id`;

/** The site with this secret, or with this former secret that still works. Active or not; `null` when there is none. */
export async function siteBySecret(env: StoreEnv, secret: string, nowMs: number): Promise<SiteRecord | null> {
  const hash = await sha256Hex(secret);
  const row = await statement(env)`
    ${SELECT_SITE} WHERE s.secret_hash = ${hash}
      OR (s.former_secret_hash = ${hash} AND s.former_secret_until > ${nowMs})`.first<Row>();
  return row ? { ...siteFields(row), secretKey: secret } : null;
}

/** The site with this key, active or not; `null` when there is none. */
export async function siteByKey(env: StoreEnv, siteKey: string): Promise<SiteRecord | null> {
  const row = await statement(env)`${SELECT_SITE} WHERE s.site_key = ${siteKey}`.first<Row>();
  return row ? openSite(env, row) : null;
}

/** Every site of an account, including inactive ones, oldest first. */
export async function sitesOfAccount(env: StoreEnv, accountId: string): Promise<SiteRecord[]> {
  const { results } = await statement(env)`
    ${SELECT_SITE} WHERE s.account_id = ${accountId} ORDER BY s.created_at, s.site_key`.all<Row>();
  return Promise.all(results.map((row) => openSite(env, row)));
}

/** Notes the first use of a site's widget, or of its secret by a server of the site. */
export async function noteFirstUse(
  env: StoreEnv,
  siteKey: string,
  what: 'widgetSolvedAt' | 'backendVerifiedAt',
  nowMs: number,
): Promise<void> {
  const column = what === 'widgetSolvedAt' ? sql`widget_solved_at` : sql`backend_verified_at`;
  await statement(env)`
    UPDATE sites SET ${column} = ${nowMs} WHERE site_key = ${siteKey} AND ${column} IS NULL`.run();
}

/** Which of these keys belong to sites of the account, active or not. */
export async function siteKeysAmong(env: StoreEnv, accountId: string, siteKeys: readonly string[]): Promise<string[]> {
  const { results } = await statement(env)`
    SELECT site_key FROM sites
    WHERE site_key IN (SELECT value FROM json_each(${JSON.stringify(siteKeys)}))
      AND account_id = ${accountId}`.all<{ site_key: string }>();
  return results.map((row) => row.site_key);
}

/**
 * Creates a site with new keys. The first site of an account becomes its default.
 * Fails with `'duplicate-name'` when the account has a site with this name, active or not.
 */
export async function createSite(
  env: StoreEnv,
  site: { accountId: string; name: string; settings: SiteSettings },
  nowMs: number,
): Promise<Result<SiteRecord, 'duplicate-name'>> {
  const siteKey = `site_${randomToken(SITE_KEY_BYTES)}`;
  const secretKey = newSiteSecret();
  const sealed = await sealAtRest(await rootKey(env), secretContext(siteKey), secretKey);
  const isTaken = nameIsTaken({ ...site, siteKey });
  const result = await statement(env)`
    INSERT INTO sites
      (site_key, account_id, name, secret_hash, secret_sealed, settings, is_default, created_at, updated_at)
    SELECT ${siteKey}, ${site.accountId}, ${site.name}, ${await sha256Hex(secretKey)}, ${sealed},
      ${JSON.stringify(site.settings)},
      NOT EXISTS (SELECT 1 FROM sites WHERE account_id = ${site.accountId} AND is_default = 1), ${nowMs}, ${nowMs}
    WHERE (SELECT COUNT(*) FROM sites WHERE account_id = ${site.accountId}) < ${accountLimits.sites} AND NOT ${isTaken}
    ON CONFLICT (account_id, name) DO NOTHING`.run();
  if (result.meta.changes === 0) {
    if (await statement(env)`SELECT 1 WHERE ${isTaken}`.first()) return failed('duplicate-name');
    throw new AccountLimitError('sites');
  }
  const created = await siteByKey(env, siteKey);
  if (!created) throw new Error('A site is missing right after it was created');
  return ok(created);
}

/**
 * Writes a changed site unless it was changed by another call since `expectedVersion` was read.
 * Fails with `'conflict'` (read again and retry) or with `'duplicate-name'` when the new name is taken.
 */
export async function updateSite(
  env: StoreEnv,
  site: { siteKey: string; accountId: string; name: string; settings: SiteSettings; isDefault: boolean },
  expectedVersion: number,
  nowMs: number,
): Promise<Result<null, 'conflict' | 'duplicate-name'>> {
  const isTaken = nameIsTaken(site);
  if (await statement(env)`SELECT 1 WHERE ${isTaken}`.first()) return failed('duplicate-name');
  const write = statement(env)`
    UPDATE OR IGNORE sites SET name = ${site.name}, settings = ${JSON.stringify(site.settings)},
      is_default = ${site.isDefault}, version = version + 1, updated_at = ${nowMs}
    WHERE site_key = ${site.siteKey} AND account_id = ${site.accountId} AND version = ${expectedVersion}
      AND NOT ${isTaken}`;
  if (!site.isDefault) return (await write.run()).meta.changes === 1 ? ok(null) : failed('conflict');
  // One transaction: the former default gives up its flag only if this version of the site takes it.
  const stepDown = statement(env)`
    UPDATE sites SET is_default = 0, version = version + 1
    WHERE account_id = ${site.accountId} AND is_default = 1 AND site_key <> ${site.siteKey}
      AND EXISTS (SELECT 1 FROM sites WHERE site_key = ${site.siteKey} AND version = ${expectedVersion})
      AND NOT ${isTaken}`;
  const results = await env.DB.batch([stepDown, write]);
  return results[1]?.meta.changes === 1 ? ok(null) : failed('conflict');
}

/** Another site of the account has this name, in whatever letter case. */
function nameIsTaken({ accountId, name, siteKey }: { accountId: string; name: string; siteKey: string }): Sql {
  return sql`EXISTS (SELECT 1 FROM sites
    WHERE account_id = ${accountId} AND name = ${name} COLLATE NOCASE AND site_key <> ${siteKey})`;
}

/**
 * Makes a site inactive unless it is the account's last active one or an active instance uses it, other than
 * `instanceId`, which becomes inactive too. The statements themselves check this, so that of two parallel calls one
 * fails. If the site was the default, another site becomes the default.
 */
export async function deactivateSite(
  env: StoreEnv,
  { accountId, siteKey, instanceId }: { accountId: string; siteKey: string; instanceId: string | null },
  nowMs: number,
): Promise<Result<null, 'last-site' | 'site-used'>> {
  const hasOther = sql`EXISTS (
    SELECT 1 FROM sites WHERE account_id = ${accountId} AND site_key <> ${siteKey} AND active = 1)`;
  const instance = statement(env)`
    UPDATE protect_instances SET active = 0, version = version + 1, updated_at = ${nowMs}
    WHERE account_id = ${accountId} AND global_site_key = ${siteKey} AND id = ${instanceId} AND active = 1
      AND ${hasOther}`;
  const deactivate = statement(env)`
    UPDATE sites SET active = 0, is_default = 0, version = version + 1, updated_at = ${nowMs}
    WHERE account_id = ${accountId} AND site_key = ${siteKey} AND ${hasOther}
      AND NOT EXISTS (SELECT 1 FROM protect_instances WHERE global_site_key = ${siteKey} AND active = 1)`;
  const heir = statement(env)`
    UPDATE sites SET is_default = 1, version = version + 1 WHERE site_key = (
      SELECT site_key FROM sites WHERE account_id = ${accountId} AND active = 1 ORDER BY created_at, site_key LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM sites WHERE account_id = ${accountId} AND is_default = 1)`;
  const kept = [sql`robots_files`, sql`policy_sets`].map(
    (table) =>
      statement(env)`
      DELETE FROM ${table} WHERE instance_id = ${instanceId} AND NOT EXISTS (SELECT 1 FROM protect_instances
        WHERE id = ${instanceId} AND active = 1)`,
  );
  const used = statement(env)`
    SELECT EXISTS (SELECT 1 FROM protect_instances WHERE global_site_key = ${siteKey} AND active = 1) AS used`;
  const [, written, usage] = await env.DB.batch<{ used: number }>([instance, deactivate, used, heir, ...kept]);
  if (written?.meta.changes === 1) return ok(null);
  // An instance that was to go with it is still there only because the site is the last one.
  return failed(usage?.results[0]?.used === 1 && instanceId === null ? 'site-used' : 'last-site');
}

/** Makes an inactive site active again, with the keys and settings that it had. An active one stays as it is. */
export async function reactivateSite(env: StoreEnv, accountId: string, siteKey: string, nowMs: number): Promise<void> {
  await statement(env)`
    UPDATE sites SET active = 1, version = version + 1, updated_at = ${nowMs}
    WHERE account_id = ${accountId} AND site_key = ${siteKey} AND active = 0`.run();
}

async function openSite(env: StoreEnv, row: Row): Promise<SiteRecord> {
  const site = siteFields(row);
  const secretKey = await openAtRest(await rootKey(env), secretContext(site.siteKey), row['secret_sealed'] as string);
  return { ...site, secretKey };
}

export function newSiteSecret(): string {
  return `secret_${randomToken(SECRET_KEY_BYTES)}`;
}

/** The context that a secret is sealed for: a sealed value copied to another row does not open. */
export function secretContext(siteKey: string): string {
  return `sites.secret_sealed:${siteKey}`;
}

/**
 * Rotates a site's secret. The former secret works until `formerUntil`, so that backends and edges can switch one by
 * one. At most two secrets work at once: another rotation ends the former one. Tokens that visitors hold do not depend
 * on it.
 * @returns the new secret, or `null` when the account has no such active site.
 */
export async function rotateSiteSecret(
  env: StoreEnv,
  site: { accountId: string; siteKey: string },
  formerUntil: number,
  nowMs: number,
): Promise<string | null> {
  const secretKey = newSiteSecret();
  const sealed = await sealAtRest(await rootKey(env), secretContext(site.siteKey), secretKey);
  // In one statement, so that the hash it keeps as the former one is the hash that was valid until now.
  const { meta } = await statement(env)`
    UPDATE sites SET former_secret_hash = secret_hash, former_secret_until = ${formerUntil},
      secret_hash = ${await sha256Hex(secretKey)}, secret_sealed = ${sealed},
      version = version + 1, updated_at = ${nowMs}
    WHERE site_key = ${site.siteKey} AND account_id = ${site.accountId} AND active = 1`.run();
  return meta.changes === 1 ? secretKey : null;
}
