/**
 * The visitor of a challenge. An edge with a valid client JWT describes its visitor, for sites of its own account only.
 * Any other visitor is described by their own connection. A field `visitor` without that JWT is refused, not ignored:
 * it is an attack, or a mistake in a configuration.
 */
import { SEALED_CATEGORIES_MAX } from '../../captcha/seal/sealed-facts.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { header } from '../../contract/edge/headers.ts';
import { canonicalIp } from '../../address/ip.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import type { AddressFacts } from '../../captcha/verify/address-facts.ts';
import { authenticateEdge } from '../http/authenticate.ts';
import { clientAddress } from '../http/client-address.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { CaptchaRefusal, CredentialError } from '../http/service-error.ts';
import { failed, ok, type Result } from '../../result.ts';

/** Access control rules compare the whole text. No browser sends a longer one. */
const USER_AGENT_MAX_CHARS = 16_384;

export interface Visitor {
  /** Canonical, or `null` when unknown. */
  ip: string | null;
  userAgent: string;
  country: string | null;
  asn: number | null;
  /** Name of the network's operator. */
  network: string | null;
  ja4: string | null;
  city: string | null;
  latitude: number | null;
  longitude: number | null;
  /** Flags of the address; `null`: not known. */
  categories: readonly string[] | null;
  /** From 0 to 1, in the operator's dataset. */
  abuseScore: number | null;
  /** Risk of the Protect session as the edge reports it; 0 without a session. */
  sessionRisk: number;
  /** Host of the page, as the edge names it; `null` for a direct visitor. */
  host: string | null;
  /** Account of the edge; `null` for a direct visitor. */
  edgeAccountId: string | null;
  /** Instance of the edge; `null` for a direct visitor. */
  instance: StoredInstance | null;
  /** Headers that only a direct request shows. */
  headers: { acceptLanguage: boolean; fetchMetadata: boolean } | null;
}

/** `described`: the visitor as the edge describes them. */
export async function captchaVisitor(
  call: ServiceCall,
  described: EdgeVisitor | undefined,
): Promise<Result<Visitor, CaptchaRefusal | CredentialError>> {
  if (described === undefined) return ok(directVisitor(call));
  if (call.request.headers.get('authorization') === null) return failed({ kind: 'visitor-without-jwt' });
  const edge = await authenticateEdge(call);
  return edge.ok ? ok(edgesVisitor(described, edge.value.instance)) : edge;
}

function edgesVisitor(described: EdgeVisitor, instance: StoredInstance): Visitor {
  const { country, asn, ipCategories } = described;
  return {
    ip: canonicalIp(described.ip),
    userAgent: described.userAgent.slice(0, USER_AGENT_MAX_CHARS),
    country,
    asn,
    network: null,
    ja4: described.ja4,
    city: null,
    latitude: null,
    longitude: null,
    categories: withTor(asn === null && ipCategories.length === 0 ? null : ipCategories, country),
    abuseScore: null,
    sessionRisk: described.riskScore ?? 0,
    host: described.host,
    edgeAccountId: instance.accountId,
    instance,
    headers: null,
  };
}

/** Fills in facts of the operator's dataset. A fact that is already known stays; categories add up. */
export function withKnownFacts(visitor: Visitor, known: AddressFacts | null): Visitor {
  if (known === null) return visitor;
  const { categories } = known;
  const all = [...new Set([...(visitor.categories ?? []), ...(categories ?? [])])];
  return {
    ...visitor,
    country: visitor.country ?? known.country,
    asn: visitor.asn ?? known.asn,
    network: visitor.network ?? known.network,
    city: visitor.city ?? known.city,
    latitude: visitor.latitude ?? known.latitude,
    longitude: visitor.longitude ?? known.longitude,
    categories: categories === null ? visitor.categories : all.slice(0, SEALED_CATEGORIES_MAX),
    abuseScore: known.abuseScore,
  };
}

function directVisitor(call: ServiceCall): Visitor {
  const { request, signals } = call;
  const ip = clientAddress(signals, request);
  // `clientAddress` has checked the secret of the proxy, so the other headers of the proxy can be trusted too.
  const fromProxy = signals.kind === 'headers' && ip !== null;
  const cf: Partial<IncomingRequestCfProperties> | undefined = fromProxy ? undefined : request.cf;
  const country = fromProxy ? request.headers.get(header.clientCountry) : (cf?.country ?? null);
  const escapedAgent = fromProxy ? request.headers.get(header.clientUserAgent) : null;
  const asnText = fromProxy ? request.headers.get(header.clientAsn) : null;
  return {
    ip,
    userAgent: (escapedAgent ?? request.headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX_CHARS),
    country: country !== null && /^[A-Z0-9]{2}$/.test(country) ? country : null,
    asn: asnText !== null && /^\d{1,10}$/.test(asnText) ? Number(asnText) : (cf?.asn ?? null),
    network: cf?.asOrganization?.slice(0, 128) ?? null,
    ja4: fromProxy
      ? (request.headers.get(header.clientJa4)?.slice(0, 64) ?? null)
      : ((cf?.botManagement as { ja4?: string } | undefined)?.ja4 ?? null),
    city: cf?.city ?? null,
    latitude: degrees(cf?.latitude),
    longitude: degrees(cf?.longitude),
    categories: withTor(null, country),
    abuseScore: null,
    sessionRisk: 0,
    host: null,
    edgeAccountId: null,
    instance: null,
    headers: {
      acceptLanguage: request.headers.has('accept-language'),
      fetchMetadata: request.headers.has('sec-fetch-site'),
    },
  };
}

/** `T1` is Cloudflare's country code of the Tor network. */
function withTor(categories: readonly string[] | null, country: string | null): readonly string[] | null {
  return country === 'T1' ? [...new Set([...(categories ?? []), 'tor'])] : categories;
}

function degrees(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  // One decimal is about the size of a city, and enough for a check of distances.
  return Number.isFinite(value) ? Math.round(value * 10) / 10 : null;
}
