/**
 * The widest domain that a session cookie may have for a host: the registrable domain by the public suffix list. So
 * `www` and `shop` share one session, and a neighbour under a shared suffix does not get it. `null` means host-only:
 * addresses, localhost, and names that are a suffix themselves.
 */
import { getDomain } from 'tldts';

/** `host` may carry a port. */
export function cookieDomain(host: string): string | null {
  return getDomain(`https://${host}`, { allowPrivateDomains: true, validateHostname: true });
}
