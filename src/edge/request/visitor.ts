/** The edge's signals of a visitor, for calls to the service on the visitor's behalf (design 4). */
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { clientHeadersOf } from './client-headers.ts';
import type { Passage } from './passage.ts';

const USER_AGENT_MAX_CHARS = 16_384;

export function visitorOf(passage: Passage): EdgeVisitor {
  const { signals, target, requestId, verdict } = passage;
  return {
    ip: signals?.ip ?? null,
    userAgent: (signals?.userAgent ?? '').slice(0, USER_AGENT_MAX_CHARS),
    asn: signals?.asn ?? null,
    country: signals?.countryCode ?? null,
    ja4: signals?.ja4 ?? null,
    ipCategories: [...(signals?.ipCategories ?? [])],
    requestId,
    host: target?.host ?? '',
    ...(verdict?.riskScore == null ? {} : { riskScore: verdict.riskScore }),
  };
}

/** With what a session call's headers show of the browser (design 6); too dear for a request that is only decided. */
export function sessionVisitorOf(passage: Passage): EdgeVisitor {
  return { ...visitorOf(passage), headers: clientHeadersOf(passage.request.headers, passage.target) };
}
