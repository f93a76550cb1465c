/**
 * Account, site, instance and credential of one protected host, in the deployment's database. Each is found before it is
 * made, by what makes it unique, so that a second run changes nothing. A new instance is in monitor mode.
 */
import type { D1Database } from '@cloudflare/workers-types';
import { newInstanceSettings } from '../../contract/management/instance-settings.ts';
import { normaliseDomain } from '../../contract/management/site-domain.ts';
import type { StoreEnv } from '../../store/binding.ts';
import {
  accountById,
  createAccount,
  listAccounts,
  normaliseEmail,
  type AccountRecord,
} from '../../store/d1/accounts.ts';
import { clientJwtById, clientJwtInsertion, revokeClientJwt, signedClientJwt } from '../../store/d1/client-jwts.ts';
import { instanceById, instancesOfAccount, type StoredInstance } from '../../store/d1/instances.ts';
import { sitesOfAccount, type SiteRecord } from '../../store/d1/sites.ts';
import { openAtRest, sealAtRest } from '../../store/keys/master-key.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { OperatorError } from '../failure.ts';
import { provisionInstance, provisionSite } from '../provision.ts';
import { dashed } from './names.ts';
import type { EdgeRow } from './record.ts';

/** A year; `upgrade` renews a credential that has less than this left. */
const JWT_WEEKS = 52;
const RENEW_BEFORE_MS = 90 * 86_400_000;

/**
 * The account that holds the deployment's sites: the one of `email`, or the only one.
 * @throws OperatorError when it cannot be told which.
 */
export async function foundAccount(
  env: StoreEnv,
  email: string | null,
  isGiven: boolean,
): Promise<AccountRecord | null> {
  const accounts = await listAccounts(env);
  if (email !== null) {
    const own = accounts.find(({ ownerEmail }) => ownerEmail === normaliseEmail(email));
    if (own !== undefined) return own;
  }
  if (accounts.length > 1 || (isGiven && accounts.length > 0))
    throw new OperatorError(
      `The deployment has ${accounts.length > 1 ? 'several accounts' : 'another account'}. Add --email with the owner of one: ${accounts
        .slice(0, 10)
        .map(({ ownerEmail }) => ownerEmail)
        .join(', ')}.`,
    );
  return accounts[0] ?? null;
}

/**
 * The account whose instance the host's gate runs for. Another one would get a new instance that only monitors, and the
 * gate with it.
 * @throws OperatorError when `given` names the owner of another account.
 */
export async function accountOfEdge(
  env: StoreEnv,
  edge: EdgeRow | undefined,
  given: string | null,
): Promise<AccountRecord | null> {
  const instance = edge === undefined ? null : await instanceById(env, edge.instance_id);
  if (edge === undefined || instance === null || !instance.active) return null;
  const account = await accountById(env, instance.accountId);
  if (account !== null && given !== null && account.ownerEmail !== normaliseEmail(given))
    throw new OperatorError(
      `The gate of ${edge.host} belongs to the account of ${account.ownerEmail}. Leave --email out to keep it there, or remove the gate first with "npm run deploy -- destroy --site ${edge.host}".`,
    );
  return account;
}

export function newAccount(env: StoreEnv, email: string): Promise<AccountRecord> {
  return createAccount(env, { ownerEmail: email, tier: 'professional' }, Date.now());
}

/** The instance of the host, else the site that covers it. */
export async function foundInstance(env: StoreEnv, accountId: string, host: string): Promise<StoredInstance | null> {
  const all = await instancesOfAccount(env, accountId);
  return all.find(({ active, cname }) => active && cname === host) ?? null;
}

export async function foundSite(env: StoreEnv, accountId: string, host: string): Promise<SiteRecord | null> {
  const all = await sitesOfAccount(env, accountId);
  const taken = new Set(
    (await instancesOfAccount(env, accountId)).flatMap(({ active, globalSiteKey }) => (active ? [globalSiteKey] : [])),
  );
  const domain = normaliseDomain(host);
  // The site of another instance cannot have a second one.
  const free = all.filter(({ siteKey }) => !taken.has(siteKey));
  const found =
    free.find(({ name }) => name === dashed(host)) ??
    free.find(({ settings }) => settings.domains.some((one) => one === domain));
  if (found !== undefined && !found.active)
    throw new OperatorError(
      `The site ${found.name} was deactivated. Activate it with "npm run gatehouse -- site activate --remote --account ${accountId} --site-key ${found.siteKey}", and run the command again.`,
    );
  return found ?? null;
}

export function newSite(env: StoreEnv, account: AccountRecord, host: string): Promise<SiteRecord> {
  return provisionSite(env, { account, name: dashed(host), settings: { domains: [host] } }, Date.now());
}

export function newInstance(env: StoreEnv, accountId: string, siteKey: string, host: string): Promise<StoredInstance> {
  const policy = newInstanceSettings.parse({});
  return provisionInstance(env, { accountId, name: host, cname: host, globalSiteKey: siteKey, policy }, Date.now());
}

const context = (host: string): string => `deployment_edges.jwt_sealed:${host}`;

/** The credential that is stored for the edge; `null` when there is none, or it is revoked or soon ends. */
export async function keptClientJwt(
  env: StoreEnv,
  edge: EdgeRow | undefined,
  instanceId: string,
): Promise<string | null> {
  if (edge === undefined || edge.instance_id !== instanceId) return null;
  const registered = (await clientJwtById(env, edge.jti))?.registered;
  if (registered === undefined || registered.revokedAt !== null) return null;
  if (registered.expiresAt - Date.now() < RENEW_BEFORE_MS) return null;
  return openAtRest(await rootKey(env), context(edge.host), edge.jwt_sealed).catch(() => null);
}

/**
 * Issues the edge's credential and stores it sealed, in one transaction: an interrupted run leaves no credential that
 * nobody has. The former one stays valid until the edge runs with the new one.
 */
export async function newClientJwt(
  env: StoreEnv,
  edge: { host: string; worker: string; zoneId: string; instanceId: string; serviceUrl: string },
): Promise<string> {
  const { record, clientJwt } = await signedClientJwt(env, edge.serviceUrl, edge.instanceId, JWT_WEEKS, Date.now());
  const sealed = await sealAtRest(await rootKey(env), context(edge.host), clientJwt);
  await env.DB.batch([
    clientJwtInsertion(env, record),
    env.DB.prepare(
      `INSERT INTO deployment_edges (host, worker, zone_id, instance_id, jti, jwt_sealed, jwt_expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (host) DO UPDATE SET worker = ?2, zone_id = ?3, former_jti = COALESCE(former_jti, jti), instance_id = ?4,
         jti = ?5, jwt_sealed = ?6, jwt_expires_at = ?7, edge_print = NULL`,
    ).bind(edge.host, edge.worker, edge.zoneId, edge.instanceId, record.jti, sealed, record.expiresAt),
  ]);
  return clientJwt;
}

/** After the edge runs with the new one. */
export async function endFormerJwt(env: StoreEnv, host: string): Promise<void> {
  const row = await env.DB.prepare('SELECT * FROM deployment_edges WHERE host = ?').bind(host).first<EdgeRow>();
  if (row?.former_jti == null) return;
  // It may be of another instance than the new one.
  const former = (await clientJwtById(env, row.former_jti))?.registered;
  if (former !== undefined) await revokeClientJwt(env, former.instanceId, former.jti, Date.now());
  await env.DB.prepare('UPDATE deployment_edges SET former_jti = NULL WHERE host = ?').bind(host).run();
}

export function forgetEdge(database: D1Database, host: string): Promise<unknown> {
  return database.prepare('DELETE FROM deployment_edges WHERE host = ?').bind(host).run();
}
