/**
 * Which addresses an instance's settings may send an edge to: hosts with a public name, and nothing of a private network.
 * Bare IP addresses are refused: no certificate and no zone names them. No zod.
 */
import { isLoopback } from '../outbound-address.ts';

/** Names that mean another machine in each network (RFC 6761, RFC 8375 and what routers use). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|arpa|onion|alt|invalid)$/;
/** `URL` writes every spelling of an IPv4 address with a number at its end. */
const NAME = /\.[a-z][a-z0-9-]*$/;

/** An http(s) address without credentials, query and fragment. */
export function isOriginAddress(text: string): boolean {
  const url = /^https?:\/\/[^/?#@\\\s]+(?:\/[^?#\\\s]*)?$/.test(text) ? URL.parse(text) : null;
  if (url === null) return false;
  const name = url.hostname.replace(/\.$/, '');
  // For trials: an edge calls these only if its own `ORIGIN_URL` is such an address.
  return isLoopback(url) || (NAME.test(name) && !LOCAL_NAME.test(name));
}
