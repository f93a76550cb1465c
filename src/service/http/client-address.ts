/**
 * The visitor's address as the service sees it: `CF-Connecting-IP`, which Cloudflare sets and a
 * visitor cannot; behind another proxy (`SIGNALS_SOURCE=headers`) `x-client-ip`, and only beside the
 * secret that proxy knows (design 3). `null` where neither is trustworthy: never a guess.
 */
import { header } from '../../contract/edge/headers.ts';
import { canonicalIp } from '../../address/ip.ts';
import { isSameSecret } from '../../bytes/same-secret.ts';
import type { SignalsSource } from '../environment.ts';

/** Canonical address (`rules/ip.ts`), or `null`. */
export function clientAddress(signals: SignalsSource, request: Request): string | null {
  if (signals.kind === 'cloudflare') return canonicalIp(request.headers.get('cf-connecting-ip'));
  const given = request.headers.get(header.signalsSecret) ?? '';
  return isSameSecret(given, signals.secret) ? canonicalIp(request.headers.get(header.clientIp)) : null;
}
