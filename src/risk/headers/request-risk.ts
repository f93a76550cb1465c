/**
 * The detectors that judge a single request by its headers and its address, session or not, and the risk that they add up
 * to. The edge evaluates all of them on every request; the service evaluates `sharedConditions` on the call that opens a
 * session.
 */
import { hasDetector, type RiskDetector } from '../../contract/edge/risk-detectors.ts';
import {
  contradictsDestination,
  contradictsFetchMetadata,
  contradictsHints,
  contradictsTls,
  hasFetchMetadata,
  isDocumentDestination,
} from './header-contradictions.ts';
import type { RequestHeaders, RequestRiskFacts } from './request-facts.ts';
import { isSmallBrowser } from './tool-user-agent.ts';

type Condition = (facts: RequestRiskFacts) => boolean;
type AddressCondition = (facts: Pick<RequestRiskFacts, 'userAgent' | 'categories'>) => boolean;
/** Only for requests whose headers are known, and that browsers send with all of their headers. */
type HeaderCondition = (headers: RequestHeaders, facts: RequestRiskFacts) => boolean;

const ofHeaders =
  (condition: HeaderCondition): Condition =>
  (facts) =>
    facts.headers !== null && !facts.headers.webSocket && condition(facts.headers, facts);
const inCategory =
  (name: string): AddressCondition =>
  ({ categories }) =>
    categories.includes(name);

/** Workers have client hints neither on their own scripts nor on what they ask for. */
const worker = /^(?:(?:shared|service)?worker|(?:audio|paint)worklet|report)$/;
/** What a browser names in `Accept` when an element of the page asks, not the address bar. */
const ELEMENT_ACCEPT = /^(?:image|text\/css|font|audio|video|application\/font|text\/event-stream)/;

/**
 * Proxies that remove what they do not know remove all of it, and some builds of Chromium send none of it. So hints and a
 * language that are missing as well are not a second sign.
 */
function lacksMetadata(headers: RequestHeaders, { claim }: Pick<RequestRiskFacts, 'claim'>): boolean {
  return claim.sendsFetchMetadata && headers.secure && !hasFetchMetadata(headers);
}

/** What user agent and address show by themselves. The captcha score uses these as well. */
export const addressConditions = {
  'no-user-agent': ({ userAgent }) => userAgent === '',
  'category-tor': inCategory('tor'),
  'category-abuser': inCategory('abuser'),
  'category-proxy': inCategory('proxy'),
  'category-vpn': inCategory('vpn'),
  'category-datacenter': inCategory('datacenter'),
  'category-crawler': inCategory('crawler'),
} as const satisfies Readonly<Record<string, AddressCondition>>;

export const sharedConditions = {
  ...addressConditions,
  'no-accept-language': ofHeaders((headers, facts) => !headers.acceptLanguage && !lacksMetadata(headers, facts)),
  'no-fetch-metadata': ofHeaders(lacksMetadata),
  'contradictory-fetch-metadata': ofHeaders((headers) => contradictsFetchMetadata(headers)),
  'no-client-hints': ofHeaders((headers, { claim }) => {
    const { secure, uaBrands, fetchDest, method } = headers;
    return (
      claim.sendsClientHints &&
      hasFetchMetadata(headers) &&
      secure &&
      uaBrands === null &&
      method !== 'OPTIONS' &&
      !(fetchDest === 'empty' && method === 'GET') &&
      !worker.test(fetchDest ?? '')
    );
  }),
  'contradictory-client-hints': ofHeaders((headers, { claim, userAgent }) =>
    contradictsHints(userAgent, claim, headers),
  ),
} as const satisfies Readonly<Record<string, Condition>>;
export type SharedDetector = keyof typeof sharedConditions;

export const requestConditions = {
  ...sharedConditions,
  'automation-user-agent': ({ claim, userAgent, headers }) =>
    claim.isTool && !(headers !== null && isSmallBrowser(userAgent, headers)),
  'headless-user-agent': ({ claim }) => claim.isHeadless,
  'contradictory-fetch-metadata': ofHeaders(
    (headers) =>
      contradictsFetchMetadata(headers) || contradictsDestination(headers.fetchDest, headers.method, headers.accept),
  ),
  'no-html-accept': ofHeaders(
    (headers, { claim }) =>
      claim.engine !== null && asksForPage(headers) && headers.accept?.includes('text/html') !== true,
  ),
  'no-compression': ofHeaders(
    (headers, { claim }) =>
      claim.engine !== null && headers.acceptEncoding?.includes('gzip') !== true && !isMedia(headers),
  ),
  'no-upgrade-request': ofHeaders(
    ({ fetchMode, fetchDest, upgradeInsecure }, { claim: { engine, sendsFetchMetadata } }) =>
      // Safari sends it to plain http only.
      sendsFetchMetadata &&
      engine !== 'safari' &&
      fetchMode === 'navigate' &&
      isDocumentDestination(fetchDest) &&
      !upgradeInsecure,
  ),
  'contradictory-tls': ({ ja4, claim }) => contradictsTls(ja4, claim),
} as const satisfies Partial<Readonly<Record<RiskDetector, Condition>>>;
export type RequestDetector = keyof typeof requestConditions;

/** Without metadata: what the address bar would send, with no page before it. */
function asksForPage(headers: RequestHeaders): boolean {
  if (isDocumentDestination(headers.fetchDest)) return true;
  if (hasFetchMetadata(headers) || headers.referer) return false;
  const isRead = headers.method === 'GET' || headers.method === 'HEAD';
  return isRead && !ELEMENT_ACCEPT.test(headers.accept ?? '');
}

/** Sound and film are asked for in parts and uncompressed. */
function isMedia({ fetchDest, range, accept }: RequestHeaders): boolean {
  return fetchDest === 'audio' || fetchDest === 'video' || range || /^(?:audio|video)\//.test(accept ?? '');
}

export interface RiskReading {
  /** 0 to 1. */
  score: number;
  /** `detectorBits` of the score's parts. */
  detectors: number;
}

/** Joins what the request shows to what is known of its session, if there is one. */
export type RequestRisk = (facts: RequestRiskFacts, session: RiskReading | null) => RiskReading | null;

interface Detector {
  place: number;
  weight: number;
  fires: Condition;
}

const NOTHING: RiskReading = { score: 0, detectors: 0 };

/**
 * `names` and `weights` come from the service in the config: the weight of each detector stands at its name's place. A
 * detector without a name or a weight there is not evaluated, so an edge follows a service of another release.
 */
export function compileRequestRisk(names: readonly string[], weights: readonly number[]): RequestRisk {
  const detectors = names.flatMap((name, place): Detector[] => {
    const weight = weights[place] ?? 0;
    return weight > 0 && name in requestConditions
      ? [{ place, weight, fires: requestConditions[name as RequestDetector] }]
      : [];
  });
  if (detectors.length === 0) return (_, session) => session;
  return function requestRisk(facts, session) {
    let joined = session ?? NOTHING;
    for (const { place, weight, fires } of detectors) {
      // One sign counts once, whether the session, this request or both show it.
      if (!fires(facts) || hasDetector(joined.detectors, place)) continue;
      joined = { score: joined.score + weight, detectors: joined.detectors + 2 ** place };
    }
    return joined === session || joined === NOTHING ? joined : { ...joined, score: rounded(joined.score) };
  };
}

function rounded(score: number): number {
  return Math.min(1, Math.round(score * 100) / 100);
}
