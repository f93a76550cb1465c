/**
 * Who asks for a challenge. An edge with a valid client JWT speaks for its visitor, and only for sites
 * of its own account; everybody else is who their connection says. A `visitor` member without
 * that JWT is refused, not ignored: somebody is trying, or somebody's set-up is wrong.
 */
import { SEALED_CATEGORIES_MAX } from '../../captcha/seal/sealed-facts.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { header } from '../../contract/edge/headers.ts';
import { canonicalIp } from '../../address/ip.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import type { AddressFacts } from '../../captcha/verify/address-facts.ts';
import { authenticateEdge } from '../http/authenticate-edge.ts';
import { clientAddress } from '../http/client-address.ts';
import { ApiError } from '../http/api-error.ts';
import type { ServiceCall } from '../http/service-call.ts';

/** Compared whole with access control rules; longer ones are no browser's. */
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
  /** Flags of the address, or `null` when nobody could tell. */
  categories: readonly string[] | null;
  /** 0–1, by the operator's dataset. */
  abuseScore: number | null;
  /** Risk of the Protect session by the edge's word, or 0. */
  sessionRisk: number;
  /** Host of the page when an edge says so. */
  host: string | null;
  /** Account the edge belongs to; `null` for a direct visitor. */
  edgeAccountId: string | null;
  /** The edge's instance; `null` for a direct visitor. */
  instance: StoredInstance | null;
  /** What only a direct request shows. */
  headers: { acceptLanguage: boolean; fetchMetadata: boolean } | null;
}

export async function visitorOf(call: ServiceCall, told: EdgeVisitor | undefined): Promise<Visitor> {
  const { request } = call;
  if (told === undefined) return directVisitor(call);
  if (request.headers.get('authorization') === null) {
    throw new ApiError('API.UNAUTHORIZED', 'The visitor member needs a client JWT');
  }
  const instance = await authenticateEdge(call);
  return {
    ip: canonicalIp(told.ip),
    userAgent: told.userAgent.slice(0, USER_AGENT_MAX_CHARS),
    country: told.country,
    asn: told.asn,
    network: null,
    ja4: told.ja4,
    city: null,
    latitude: null,
    longitude: null,
    categories: withTor(told.asn === null && told.ipCategories.length === 0 ? null : told.ipCategories, told.country),
    abuseScore: null,
    sessionRisk: told.riskScore ?? 0,
    host: told.host,
    edgeAccountId: instance.accountId,
    instance,
    headers: null,
  };
}

/** With what the operator's dataset knows beyond what was told; what was told stands, categories add up. */
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
  // `clientAddress` believed the proxy's secret, so its other headers may be believed as well.
  const fromProxy = signals.kind === 'headers' && ip !== null;
  const cf: Partial<IncomingRequestCfProperties> | undefined = fromProxy ? undefined : request.cf;
  const country = fromProxy ? request.headers.get(header.clientCountry) : (cf?.country ?? null);
  const asnText = fromProxy ? request.headers.get(header.clientAsn) : null;
  return {
    ip,
    userAgent: (request.headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX_CHARS),
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

/** Cloudflare's country of the Tor network. */
function withTor(categories: readonly string[] | null, country: string | null): readonly string[] | null {
  return country === 'T1' ? [...new Set([...(categories ?? []), 'tor'])] : categories;
}

function degrees(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  // One decimal is a city's size, and as much as a distance check needs.
  return Number.isFinite(value) ? Math.round(value * 10) / 10 : null;
}
