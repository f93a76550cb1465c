/**
 * Whom a challenge is issued to, where an edge asks: sealed into the challenge, and compared when its token comes back.
 */
import { parseIp } from '../../address/ip.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { SealedEdge } from '../../captcha/seal/sealed-course.ts';
import type { SealedToken } from '../../captcha/seal/sealed-token.ts';
import { pageHost } from './challenge/page-host.ts';
import type { Visitor } from './visitor.ts';

/** `null` for a visitor who asks without an edge. */
export async function sealedEdge({ instance, ip, userAgent }: Visitor): Promise<SealedEdge | null> {
  const address = ip === null ? null : parseIp(ip);
  if (instance === null || address === null) return null;
  const [visitor, agent] = await Promise.all([visitorBinding(ip, userAgent), visitorBinding(null, userAgent)]);
  return { instanceId: instance.id, visitor, agent, family: address.family };
}

/**
 * Whether a token's challenge was asked for by this visitor: through the same edge, on the same host, from the same
 * network, with the same user agent. A phone may change its address family in between, as long as provider and country
 * stay. That gains nobody anything: a token is spent once, wherever it comes from.
 */
export async function isIssuedTo({ edge, hostname, facts }: SealedToken, visitor: Visitor): Promise<boolean> {
  const now = await sealedEdge(visitor);
  if (edge === null || now?.instanceId !== edge.instanceId) return false;
  if (pageHost(visitor, null, undefined, '')?.hostname !== hostname) return false;
  if (now.visitor === edge.visitor) return true;
  const isSameProvider = facts.asn !== null && facts.asn === visitor.asn;
  const isSameCountry = facts.country !== null && facts.country === visitor.country;
  return now.family !== edge.family && now.agent === edge.agent && isSameProvider && isSameCountry;
}
