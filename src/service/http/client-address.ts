/**
 * The address of the visitor. Behind Cloudflare it is `CF-Connecting-IP`, which Cloudflare sets and a visitor cannot.
 * Behind another proxy it is `x-client-ip`, and only together with the secret of that proxy. `null` where neither can
 * be trusted: the service never guesses an address.
 */
import { header } from '../../contract/edge/headers.ts';
import { canonicalIp } from '../../address/ip.ts';
import { isSameSecret } from '../../bytes/same-secret.ts';
import type { SignalsSource } from '../environment.ts';

/** The canonical address. */
export function clientAddress(signals: SignalsSource, request: Request): string | null {
  if (signals.kind === 'cloudflare') return canonicalIp(request.headers.get('cf-connecting-ip'));
  const given = request.headers.get(header.signalsSecret) ?? '';
  return isSameSecret(given, signals.secret) ? canonicalIp(request.headers.get(header.clientIp)) : null;
}
