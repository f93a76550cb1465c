/**
 * Creates what a deployment needs before its API can be called: a site, a Protect instance, an API key. The commands and
 * the local stack's seed both use it. It calls the same store functions as the service's operations.
 */
import { featurePermissions, features } from '../contract/management/permissions.ts';
import type { Feature, Permission, PermissionMap } from '../contract/management/permissions.ts';
import { newInstanceSettings } from '../contract/management/instance-settings.ts';
import { instanceIdentity } from '../contract/management/instance-identity.ts';
import { siteSettings } from '../contract/management/site-settings.ts';
import { apiKeyToken, createApiKey } from '../store/d1/api-keys.ts';
import type { StoreEnv } from '../store/binding.ts';
import { createInstance } from '../store/d1/instances.ts';
import type { InstanceConflict, StoredInstance } from '../store/d1/instances.ts';
import { createSite, siteByKey } from '../store/d1/sites.ts';
import type { SiteRecord } from '../store/d1/sites.ts';
import { rootKey } from '../store/keys/root-key.ts';
import { OperatorError } from './operator-error.ts';

/** 30 days, the default of `/api-keys/create` (docs/management-api.md#api-keys). */
export const API_KEY_DEFAULT_SECONDS = 30 * 86_400;

/** A mistake in the command, shown as one line without a stack trace. */
export class CommandError extends OperatorError {}

export async function provisionSite(
  env: StoreEnv,
  site: { accountId: string; name: string; settings: object },
  nowMs: number,
): Promise<SiteRecord> {
  const settings = siteSettings.safeParse(site.settings);
  if (!settings.success) throw new CommandError(firstIssue(settings.error));
  const created = await createSite(env, { accountId: site.accountId, name: site.name, settings: settings.data }, nowMs);
  if (!created.ok) throw new CommandError(`The account already has a site named ${site.name}. Choose another name.`);
  return created.value;
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
