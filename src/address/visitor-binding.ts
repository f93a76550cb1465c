/**
 * What a session, a clearance or a seal is bound to, so that a stolen one is of little use elsewhere: the visitor's
 * network (/24 or /64) and user agent. Binding to the whole address would log a phone out whenever it moves between
 * cells; its network rarely changes. The hash is SHA-256 because a thief chooses their user agent freely and must not
 * find one that fits.
 */
import { encodeBase64url } from '../bytes/base64url.ts';
import { addressPrefix } from './networks.ts';

/** 128 bits: out of reach of a search for a second user agent that fits. */
const BINDING_BYTES = 16;

/** 22 characters, the same for every request from this network with this user agent. */
export async function visitorBinding(ip: string | null, userAgent: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${addressPrefix(ip)}\n${userAgent}`);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return encodeBase64url(digest.subarray(0, BINDING_BYTES));
}
