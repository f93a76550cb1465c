/**
 * What the schemas cannot say of an instance: the host name must be one, the thresholds in order, and
 * the global site key an active site of the same account.
 */
import type { InstancePolicy } from '../../../contract/instance.ts';
import { siteByKey } from '../../../store/sites.ts';
import type { StoreEnv } from '../../../store/binding.ts';
import { ApiError } from '../../operation.ts';

/** Lower-case ASCII host name of a `cname`; a scheme and a trailing slash are forgiven, as with sites. */
export function checkedCname(cname: string): string {
  const bare = cname
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '');
  let hostname = '';
  try {
    if (!/[\s/\\?#@%*:]/.test(bare)) hostname = new URL(`http://${bare}/`).hostname;
  } catch {
    // Not a host name by the URL standard: refused below with everything else.
  }
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(hostname)) {
    throw new ApiError('API.INVALID_BODY', 'The cname is not a host name', [
      { path: 'cname', message: 'is not a host name such as www.example.com' },
    ]);
  }
  return hostname;
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
