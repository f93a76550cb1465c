/**
 * Walks the request's headers once: what the gate reads of them, and which ones a visitor may have forged and no origin
 * may see. Each look-up in `Headers` crosses into the runtime, so one walk costs less than a dozen look-ups.
 */
import type { ClientHeaders } from '../../contract/edge/edge-api.ts';
import type { RequestHeaders } from '../../risk/headers/request-facts.ts';

export interface HeaderFacts extends RequestHeaders {
  userAgent: string;
  cookie: string | null;
  connectingIp: string | null;
  signalsSecret: string | null;
  clientIp: string | null;
  clientAsn: string | null;
  clientCountry: string | null;
  clientJa4: string | null;
  /** The user agent with bytes that are no UTF-8 as `\xe9`. In `userAgent`, the runtime has made U+FFFD of them. */
  clientUserAgent: string | null;
  /** The edge's own signature on a request that came back to it, see `origin/call-origin.ts`. */
  signature: string | null;
  origin: boolean;
  /** Whether the request brings a signature of RFC 9421. */
  signatureInput: boolean;
  /** Names to remove before the request goes on. */
  forged: string[];
}

/**
 * Whether the request shows that a page prepared it. Browsers send one of these with everything but a first visit over
 * plain http. Anyone can send them, so the answer is for the log and decides nothing.
 */
export function isOfPage({ fetchSite, origin, referer, secure, method }: HeaderFacts): boolean {
  return fetchSite !== null || origin || referer || (!secure && (method === 'GET' || method === 'HEAD'));
}

/** Whether a page is asked for to be shown. Browsers leave the header out over plain http, and other clients have none. */
export function isNavigation({ fetchDest }: Pick<HeaderFacts, 'fetchDest'>): boolean {
  return fetchDest === null || fetchDest === 'document' || fetchDest === 'iframe';
}

/**
 * In `headerKey` spelling. `x-original-url` and `x-rewrite-url` name another path than the one that was judged, and some
 * frameworks serve that path.
 */
const FORGEABLE =
  /^x-(?:protect|client|forwarded)-|^(?:x-(?:signals-secret|real-ip|forwarded|(?:original|rewrite)-url)|cf-connecting-ip(?:v6)?|true-client-ip)$/;

/** What a header's name is to an origin that reads `x.protect_verified` as `x-protect-verified`: CGI, PHP, some proxies. */
export function headerKey(name: string): string {
  return name.replace(/[^a-z0-9]/g, '-');
}

/** `secure`: whether browsers send all of their headers to this address. */
export function readHeaders({ method, headers }: Pick<Request, 'method' | 'headers'>, secure: boolean): HeaderFacts {
  const facts: HeaderFacts = {
    userAgent: '',
    cookie: null,
    secure,
    method,
    acceptLanguage: false,
    accept: null,
    acceptEncoding: null,
    fetchSite: null,
    fetchMode: null,
    fetchDest: null,
    uaBrands: null,
    uaMobile: null,
    uaPlatform: null,
    upgradeInsecure: false,
    referer: false,
    range: false,
    webSocket: false,
    connectingIp: null,
    signalsSecret: null,
    clientIp: null,
    clientAsn: null,
    clientCountry: null,
    clientJa4: null,
    clientUserAgent: null,
    signature: null,
    origin: false,
    signatureInput: false,
    forged: [],
  };
  // oxlint-disable-next-line unicorn/no-array-for-each -- Headers' iterator makes a pair per header
  headers.forEach((value, name) => {
    switch (name) {
      case 'user-agent':
        facts.userAgent = value;
        return;
      case 'cookie':
        facts.cookie = value;
        return;
      case 'accept':
        facts.accept = value;
        return;
      case 'accept-language':
        facts.acceptLanguage = true;
        return;
      case 'accept-encoding':
        facts.acceptEncoding = value;
        return;
      case 'sec-fetch-site':
        facts.fetchSite = value;
        return;
      case 'sec-fetch-mode':
        facts.fetchMode = value;
        return;
      case 'sec-fetch-dest':
        facts.fetchDest = value;
        return;
      case 'sec-ch-ua':
        facts.uaBrands = value;
        return;
      case 'sec-ch-ua-mobile':
        facts.uaMobile = value;
        return;
      case 'sec-ch-ua-platform':
        facts.uaPlatform = value;
        return;
      case 'upgrade-insecure-requests':
        facts.upgradeInsecure = true;
        return;
      case 'referer':
        facts.referer = true;
        return;
      case 'origin':
        facts.origin = true;
        return;
      case 'signature-input':
        facts.signatureInput = true;
        return;
      case 'range':
        facts.range = true;
        return;
      case 'upgrade':
        facts.webSocket = value.toLowerCase() === 'websocket';
        return;
      case 'cf-connecting-ip':
        facts.connectingIp = value;
        break;
      case 'cf-connecting-ipv6':
      case 'true-client-ip':
      case 'forwarded':
        break;
      case 'x-signals-secret':
        facts.signalsSecret = value;
        break;
      case 'x-client-ip':
        facts.clientIp = value;
        break;
      case 'x-client-asn':
        facts.clientAsn = value;
        break;
      case 'x-client-country':
        facts.clientCountry = value;
        break;
      case 'x-client-ja4':
        facts.clientJa4 = value;
        break;
      case 'x-client-user-agent':
        facts.clientUserAgent = value;
        break;
      case 'x-protect-signature':
        facts.signature = value;
        break;
      default:
        if (!FORGEABLE.test(headerKey(name))) return;
    }
    facts.forged.push(name);
  });
  return facts;
}

/**
 * What a session call's headers show of the browser that sent it, for the service's detectors. Bounded, and only what
 * distinguishes kinds of browsers, not people.
 */
export function clientHeadersOf(facts: HeaderFacts): ClientHeaders {
  return {
    secure: facts.secure,
    acceptLanguage: facts.acceptLanguage,
    fetchSite: cut(facts.fetchSite, 16),
    fetchMode: cut(facts.fetchMode, 16),
    fetchDest: cut(facts.fetchDest, 32),
    uaBrands: cut(facts.uaBrands, 256),
    uaMobile: cut(facts.uaMobile, 8),
    uaPlatform: cut(facts.uaPlatform, 32),
  };
}

/** A longer header than any browser's is cut, not refused: it then fits no browser the detectors know. */
function cut(value: string | null, maxChars: number): string | null {
  return value?.slice(0, maxChars) ?? null;
}
