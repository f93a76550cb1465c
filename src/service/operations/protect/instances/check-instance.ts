/**
 * What the schemas cannot check about an instance: host names, the order of the thresholds, and that the global site
 * key is an active site of the same account.
 */
import type { InstancePolicy } from '../../../../contract/management/instance-policy.ts';
import { siteByKey } from '../../../../store/d1/sites.ts';
import { OperationError } from '../../operation-error.ts';
import type { StoreEnv } from '../../../../store/binding.ts';

/** Lower-case ASCII host name of a `cname`. A scheme and a trailing slash are ignored, as for sites. */
export function checkedCname(cname: string): string {
  const hostname = hostNameOf(cname);
  if (hostname === null || hostname.startsWith('[')) {
    throw new OperationError('API.INVALID_BODY', 'The cname is not a host name', [
      { path: 'cname', message: 'is not a host name such as www.example.com' },
    ]);
  }
  return hostname;
}

/** As the `Host` header has them. With a host that no request can have, the edge would refuse every request. */
export function checkedHosts(hosts: readonly string[]): string[] {
  return hosts.map((host, index) => {
    const hostname = hostNameOf(host);
    if (hostname !== null) return hostname;
    throw new OperationError('API.INVALID_BODY', 'A host is not a host name', [
      { path: `hosts.${index}`, message: 'is not a host name such as www.example.com, without a wildcard' },
    ]);
  });
}

function hostNameOf(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '');
  const isLiteral = /^\[[\da-f:.]+\]$/i.test(bare);
  if (!isLiteral && /[\s\p{Cc}/\\?#@%*:[\]]/u.test(bare)) return null;
  const hostname = URL.parse(`http://${bare}/`)?.hostname ?? '';
  return isLiteral ? hostname || null : /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(hostname) ? hostname : null;
}

export function checkThresholds(policy: InstancePolicy): void {
  if (policy.challengeThreshold > policy.blockThreshold) {
    throw new OperationError('API.INVALID_BODY', 'The thresholds are in the wrong order', [
      { path: 'challengeThreshold', message: 'must not be above blockThreshold' },
    ]);
  }
}

export async function checkSiteKey(store: StoreEnv, accountId: string, siteKey: string): Promise<void> {
  const site = await siteByKey(store, siteKey);
  if (!site?.active || site.accountId !== accountId) {
    throw new OperationError('GENERAL.SITE_KEY_NOT_FOUND', 'The account has no active site with this key', [
      { path: 'globalSiteKey', message: 'is not an active site of this account' },
    ]);
  }
}
