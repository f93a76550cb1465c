/**
 * The plan's cap on a site's domains (interface document 4.2, 8). Localhost names are free on every plan, so that
 * nobody pays to develop. A public suffix such as `co.uk` is no domain of anybody's: as one name it would
 * let every site below it in, and stand for any number of domains under the cap.
 */
import { parse } from 'tldts';
import { isLocalHostname } from '../../../contract/management/site-domain.ts';
import { SITE_DOMAINS_MAX } from '../../../contract/management/site-settings.ts';
import type { AccountTier } from '../../../contract/vocabulary.ts';
import { OperationError } from '../operation-error.ts';

/** One on the free tier is the interface document's; the others are ours. */
export const domainCap: Readonly<Record<AccountTier, number>> = {
  free: 1,
  professional: 10,
  enterprise: SITE_DOMAINS_MAX,
  premium: SITE_DOMAINS_MAX,
};

export function checkDomains(tier: AccountTier, domains: readonly string[]): void {
  const details = domains.flatMap((domain, index) =>
    isPublicSuffix(domain) ? [{ path: `settings.domains.${index}`, message: `${domain} is a public suffix` }] : [],
  );
  if (details.length > 0) throw new OperationError('API.INVALID_BODY', 'A public suffix is not a domain', details);
  const counted = new Set(domains.filter((domain) => !isLocalHostname(domain.replace(/^\*\./, ''))));
  const cap = domainCap[tier];
  if (counted.size <= cap) return;
  throw new OperationError(
    'PORTAL.DOMAIN_LIMIT_EXCEEDED',
    `The ${tier} plan allows ${cap} domain${cap === 1 ? '' : 's'} per site`,
    [{ path: 'settings.domains', message: `has ${counted.size} names other than localhost; the plan allows ${cap}` }],
  );
}

/** By the registries' part of the list: a provider may well protect the name that it rents out. */
function isPublicSuffix(domain: string): boolean {
  const host = domain.replace(/^\*\./, '');
  const { publicSuffix, isIcann } = parse(host);
  return isIcann === true && publicSuffix === host;
}
