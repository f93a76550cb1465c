/**
 * What a session, a clearance or a seal is tied to, so that a copied one is worth little elsewhere
 * (design 3.3, 6): the visitor's network (/24 or /64) and user agent. The whole address would log a
 * phone out at every hand-over; the network moves seldom. SHA-256, since whoever copies a cookie is
 * free to choose a user agent and must not find one that fits.
 */
import { encodeBase64url } from '../bytes/base64url.ts';

/** 128 bits: a second visitor that fits is out of reach. */
const BINDING_BYTES = 16;

/**
 * `192.0.2.0/24` or `2001:db8:0:1::/64` of an address in canonical form (`rules/ip.ts`), or `none`
 * where the address is unknown.
 */
export function addressPrefix(ip: string | null): string {
  if (ip === null) return 'none';
  if (!ip.includes(':')) return `${ip.slice(0, ip.lastIndexOf('.'))}.0/24`;
  const [head = '', tail] = ip.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: gap }, () => '0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** 22 characters that stand for this visitor's network and user agent. */
export async function visitorBinding(ip: string | null, userAgent: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${addressPrefix(ip)}\n${userAgent}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return encodeBase64url(digest.subarray(0, BINDING_BYTES));
}
