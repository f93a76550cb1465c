/**
 * Creates what a deployment needs before its API can be called: a site, a Protect instance, an API key. The commands and
 * the local stack's seed both use it. It calls the same store functions as the service's operations.
 */
import * as z from 'zod/mini';
import {
  featurePermissions,
  features,
  type Feature,
  type Permission,
  type PermissionMap,
} from '../contract/management/permissions.ts';
import { instanceIdentity, newInstanceSettings } from '../contract/management/instance-settings.ts';
import { siteName } from '../contract/management/site.ts';
import { siteSettings } from '../contract/management/site-settings.ts';
import type { AccountRecord } from '../store/d1/accounts.ts';
import { apiKeyToken, createApiKey } from '../store/d1/api-keys.ts';
import type { StoreEnv } from '../store/binding.ts';
import { createInstance, type InstanceConflict, type StoredInstance } from '../store/d1/instances.ts';
import { createSite, reactivateSite, siteByKey, type SiteRecord } from '../store/d1/sites.ts';
import { rootKey } from '../store/keys/root-key.ts';
import { checkDomains } from '../service/operations/sites/check-domains.ts';
import { CommandError } from './command-line.ts';

/** 30 days, the default of `/api-keys/create` (docs/management-api.md#api-keys). */
export const API_KEY_DEFAULT_SECONDS = 30 * 86_400;

const newSite = z.object({ name: siteName, settings: siteSettings });

/** What the plan allows on a site is the same as over the API. */
type Plan = Pick<AccountRecord, 'id' | 'tier'>;

export async function provisionSite(
  env: StoreEnv,
  site: { account: Plan; name: string; settings: object },
  nowMs: number,
): Promise<SiteRecord> {
  const parsed = newSite.safeParse({ name: site.name, settings: site.settings });
  if (!parsed.success) throw new CommandError(firstIssue(parsed.error));
  const { name, settings } = parsed.data;
  checkDomains(site.account.tier, settings.domains);
  const created = await createSite(env, { accountId: site.account.id, name, settings }, nowMs);
  if (!created.ok) throw new CommandError(`The account already has a site named ${name}. Choose another name.`);
  return created.value;
}

/** The way back after a site was deactivated. The plan may have changed since. */
export async function activateSite(env: StoreEnv, account: Plan, siteKey: string, nowMs: number): Promise<SiteRecord> {
  const site = await ownSite(env, account, siteKey);
  if (site.active) return site;
  checkDomains(account.tier, site.settings.domains);
  await reactivateSite(env, account.id, siteKey, nowMs);
  return ownSite(env, account, siteKey);
}

async function ownSite(env: StoreEnv, account: Plan, siteKey: string): Promise<SiteRecord> {
  const site = await siteByKey(env, siteKey);
  if (site?.accountId === account.id) return site;
  throw new CommandError(
    `The account has no site with the key ${siteKey}. List its sites with: site list --account ${account.id}`,
  );
}

const instanceConflicts: Record<InstanceConflict, string> = {
  'cname-taken': 'Another active instance of the account has this cname. Choose another one.',
  'site-key-taken': 'Another active instance has this global site key. Create a site for this instance.',
  'site-inactive': 'The site was deactivated at the same time. Activate it, or choose another one.',
};

export async function provisionInstance(
  env: StoreEnv,
  instance: { accountId: string; name: string; cname: string; globalSiteKey: string; policy: object },
  nowMs: number,
): Promise<StoredInstance> {
  const { accountId, policy, ...rest } = instance;
  const identity = instanceIdentity.safeParse(rest);
  if (!identity.success) throw new CommandError(firstIssue(identity.error));
  const parsed = newInstanceSettings.safeParse(policy);
  if (!parsed.success) throw new CommandError(firstIssue(parsed.error));
  const site = await siteByKey(env, identity.data.globalSiteKey);
  if (!site?.active || site.accountId !== accountId) {
    throw new CommandError(
      `The account has no active site with the key ${identity.data.globalSiteKey}. List its sites with: site list --account ${accountId}`,
    );
  }
  const created = await createInstance(env, { accountId, ...identity.data, policy: parsed.data }, nowMs);
  if (created.ok) return created.value;
  throw new CommandError(instanceConflicts[created.error]);
}

export async function provisionApiKey(
  env: StoreEnv,
  key: { accountId: string; name: string; permissions: PermissionMap; expiresInSeconds: number },
  nowMs: number,
): Promise<{ apiKeyId: string; token: string; expiresAt: number }> {
  const record = await createApiKey(env, key, nowMs);
  return { apiKeyId: record.id, token: await apiKeyToken(await rootKey(env), record), expiresAt: record.expiresAt };
}

/** Every permission of these features. */
export function allPermissions(of: readonly Feature[] = features): PermissionMap {
  return Object.fromEntries(of.map((feature) => [feature, featurePermissions[feature] as readonly Permission[]]));
}

function firstIssue(error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }): string {
  const issue = error.issues[0];
  return issue ? `${issue.path.join('.') || 'value'}: ${issue.message}` : 'invalid value';
}
