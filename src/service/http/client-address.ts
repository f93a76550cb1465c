/**
 * The visitor's address as the service sees it: `CF-Connecting-IP`, which Cloudflare sets and a
 * visitor cannot; behind another proxy (`SIGNALS_SOURCE=headers`) `x-client-ip`, and only beside the
 * secret that proxy knows (design 3). `null` where neither is trustworthy: never a guess.
 */
import { header } from '../../contract/edge/headers.ts';
import { canonicalIp } from '../../address/ip.ts';
import { isSameSecret } from '../../bytes/same-secret.ts';

/** `SIGNALS_SECRET` is a secret that only deployments behind another proxy set. */
export type SignalsEnv = Pick<ServiceEnv, 'SIGNALS_SOURCE'> & { SIGNALS_SECRET?: string };

/** Canonical address (`rules/ip.ts`), or `null`. */
export function clientAddress(env: SignalsEnv, request: Request): string | null {
  if (env.SIGNALS_SOURCE !== 'headers') return canonicalIp(request.headers.get('cf-connecting-ip'));
  const wanted = env.SIGNALS_SECRET;
  if (wanted === undefined || wanted === '') return null;
  const given = request.headers.get(header.signalsSecret) ?? '';
  return isSameSecret(given, wanted) ? canonicalIp(request.headers.get(header.clientIp)) : null;
}
