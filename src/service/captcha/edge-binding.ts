/** Whom a challenge is issued to, where an edge asks: sealed into the challenge, and compared when its token comes back. */
import { parseIp } from '../../address/ip.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { SealedEdge } from '../../captcha/seal/sealed-course.ts';
import type { Visitor } from './visitor.ts';

/** `null` for a visitor who asks without an edge. */
export async function sealedEdge({ instance, ip, userAgent }: Visitor): Promise<SealedEdge | null> {
  const address = ip === null ? null : parseIp(ip);
  if (instance === null || address === null) return null;
  const [visitor, agent] = await Promise.all([visitorBinding(ip, userAgent), visitorBinding(null, userAgent)]);
  return { instanceId: instance.id, visitor, agent, family: address.family };
}
