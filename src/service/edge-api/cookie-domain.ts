/**
 * The widest domain a session cookie may have for a host: the registrable domain by the public suffix
 * list (design 6), so that `www` and `shop` share one session and no neighbour under a shared suffix
 * gets it. `null` is host-only: addresses, localhost, and names that are a suffix themselves.
 */
import { getDomain } from 'tldts';

/** `host` may carry a port. */
export function cookieDomain(host: string): string | null {
  return getDomain(`https://${host}`, { allowPrivateDomains: true, validateHostname: true });
}
