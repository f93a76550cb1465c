/** The edge's signals of a visitor, for calls to the service on the visitor's behalf (design 4). */
import type { ClientHeaders, EdgeVisitor } from '../contract/edge-api.ts';
import type { CanonicalTarget } from './canonical-path.ts';
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

/** Browsers send fetch metadata and client hints to https and to their own machine only. */
const TRUSTWORTHY_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

export function clientHeadersOf(
  headers: Headers,
  target: Pick<CanonicalTarget, 'scheme' | 'host'> | null,
): ClientHeaders {
  // One that is longer than any browser's is cut, not refused: the detectors see that it fits nothing.
  const text = (name: string, maxChars: number): string | null => headers.get(name)?.slice(0, maxChars) ?? null;
  return {
    secure: target !== null && (target.scheme === 'https' || TRUSTWORTHY_HOST.test(target.host)),
    acceptLanguage: headers.has('accept-language'),
    fetchSite: text('sec-fetch-site', 16),
    fetchMode: text('sec-fetch-mode', 16),
    fetchDest: text('sec-fetch-dest', 32),
    uaBrands: text('sec-ch-ua', 256),
    uaMobile: text('sec-ch-ua-mobile', 8),
    uaPlatform: text('sec-ch-ua-platform', 32),
  };
}
