/**
 * The limit of a plan on the domains of a site. Local host names are free on every plan, so that development costs
 * nothing. A public suffix such as `co.uk` is refused: as one domain it would allow every site below it, and count only
 * once.
 */
import { parse } from 'tldts';
import { isLocalHostname } from '../../../contract/management/site-domain.ts';
import { SITE_DOMAINS_MAX } from '../../../contract/management/site-settings.ts';
import type { AccountTier } from '../../../contract/vocabulary.ts';
import { OperationError } from '../operation-error.ts';

/** Domains per site. */
const domainCap: Readonly<Record<AccountTier, number>> = {
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

/** By the registries' part of the list only: a provider may protect a name whose subdomains it rents out. */
function isPublicSuffix(domain: string): boolean {
  const host = domain.replace(/^\*\./, '');
  const { publicSuffix, isIcann } = parse(host);
  return isIcann === true && publicSuffix === host;
}
