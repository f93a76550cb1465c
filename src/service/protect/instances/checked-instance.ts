/**
 * What the schemas cannot say of an instance: the host name must be one, the thresholds in order, and
 * the global site key an active site of the same account.
 */
import type { InstancePolicy } from '../../../contract/instance.ts';
import { normaliseDomain } from '../../../contract/site-domain.ts';
import { siteByKey } from '../../../store/sites.ts';
import type { StoreEnv } from '../../../store/binding.ts';
import { ApiError } from '../../operation.ts';

/** Canonical form of a `cname`; wildcards are for sites, not for instances. */
export function checkedCname(cname: string): string {
  const normalised = normaliseDomain(cname);
  if (normalised === null || normalised.startsWith('*.')) {
    throw new ApiError('API.INVALID_BODY', 'The cname is not a host name', [
      { path: 'cname', message: 'is not a host name such as www.example.com' },
    ]);
  }
  return normalised;
}

export function checkThresholds(policy: InstancePolicy): void {
  if (policy.challengeThreshold > policy.blockThreshold) {
    throw new ApiError('API.INVALID_BODY', 'The thresholds are in the wrong order', [
      { path: 'challengeThreshold', message: 'must not be above blockThreshold' },
    ]);
  }
}

export async function checkSiteKey(env: StoreEnv, accountId: string, siteKey: string): Promise<void> {
  const site = await siteByKey(env, siteKey);
  if (!site?.active || site.accountId !== accountId) {
    throw new ApiError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no active site with this key', [
      { path: 'globalSiteKey', message: 'is not an active site of this account' },
    ]);
  }
}
