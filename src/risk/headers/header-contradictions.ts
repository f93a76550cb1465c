/** Headers of one request that no browser sends together, or that do not fit the browser that the user agent names. */
import type { ClaimedBrowser, Engine } from './claimed-browser.ts';

/**
 * Values of `Sec-Fetch-*` (W3C Fetch Metadata). The tables below are recorded from Chromium, Firefox and WebKit for every
 * kind of request, including those of service workers. A destination that is in no table is accepted: new ones appear.
 */
interface FetchMetadata {
  fetchSite: string | null;
  fetchMode: string | null;
  fetchDest: string | null;
}

const sites = new Set(['same-origin', 'same-site', 'cross-site', 'none']);
const modes = new Set(['navigate', 'no-cors', 'cors', 'same-origin', 'websocket', 'webtransport']);
/** Only a navigation has these. */
const documents = new Set(['document', 'iframe', 'frame', 'fencedframe']);
/** A navigation has these, too. `empty`: a service worker asks for the page itself. */
const navigated = new Set([...documents, 'object', 'embed', 'empty']);
/** Read by an element of a page, with `GET` only. */
const elements = new Set(['image', 'style', 'script', 'font', 'audio', 'video', 'track', 'manifest', 'xslt']);

export function hasFetchMetadata({ fetchSite, fetchMode, fetchDest }: FetchMetadata): boolean {
  return fetchSite !== null || fetchMode !== null || fetchDest !== null;
}

/** Browsers send site, mode and destination together. Only a navigation has a document as its destination. */
export function contradictsFetchMetadata({ fetchSite, fetchMode, fetchDest }: FetchMetadata): boolean {
  if (fetchSite === null || fetchMode === null || fetchDest === null) {
    return fetchSite !== null || fetchMode !== null || fetchDest !== null;
  }
  if (!sites.has(fetchSite) || !modes.has(fetchMode)) return true;
  if (fetchMode === 'navigate') return !navigated.has(fetchDest);
  if (fetchMode === 'websocket') return fetchDest !== 'empty' && fetchDest !== 'websocket';
  return documents.has(fetchDest);
}

/** The destination does not fit how it is asked for: an element reads with `GET`, and a style sheet's `Accept` says so. */
export function contradictsDestination(fetchDest: string | null, method: string, accept: string | null): boolean {
  if (fetchDest === null || !elements.has(fetchDest)) return false;
  if (method !== 'GET' && method !== 'HEAD') return true;
  return fetchDest === 'style' && accept?.includes('text/css') !== true;
}

/** A frame or a tab opens this, as far as the metadata says. */
export function isDocumentDestination(fetchDest: string | null): boolean {
  return fetchDest !== null && documents.has(fetchDest);
}

interface ClientHints {
  uaBrands: string | null;
  uaMobile: string | null;
  uaPlatform: string | null;
}

const BRANDS_READ_MAX_CHARS = 256;
/** A map, because a visitor may send `constructor` as the platform. */
const systems: ReadonlyMap<string, RegExp> = new Map([
  ['windows', /Windows/],
  ['macos', /Mac OS X|Macintosh/],
  ['linux', /Linux|X11/],
  ['android', /Android/],
  ['chrome os', /CrOS/],
  ['chromeos', /CrOS/],
]);

/** Whether `Sec-CH-UA*` describe another browser than the user agent. A tool that copies a browser's name forgets one. */
export function contradictsHints(
  userAgent: string,
  claim: ClaimedBrowser,
  { uaBrands, uaMobile, uaPlatform }: ClientHints,
): boolean {
  if (uaBrands === null) return false;
  // Only Chromium browsers send brands.
  if (claim.engine !== 'chromium') return true;
  const read = uaBrands.slice(0, BRANDS_READ_MAX_CHARS);
  const chromium = /"Chromium";\s*v="(\d{1,4})/.exec(read)?.[1];
  if (chromium !== undefined && Number(chromium) !== claim.chromium) return true;
  if (/headless/i.test(read) && !claim.isHeadless) return true;
  const system = systems.get((uaPlatform ?? '').replaceAll('"', '').toLowerCase());
  if (system !== undefined && !system.test(userAgent)) return true;
  return (uaMobile === '?1' && !/Mobile/.test(userAgent)) || (uaMobile === '?0' && /Mobile/.test(userAgent));
}

/**
 * Whether the TLS client is of the family that the user agent names. The second part of a JA4 fingerprint hashes the
 * sorted list of ciphers, which a browser family changes once in years; extensions change more often and are not read.
 */
const CIPHERS_START = 11;
const CIPHERS_END = 23;
/** By hash of the cipher list over TCP. Over QUIC all of them offer the same three. */
const engineByCiphers: Readonly<Record<string, Engine>> = {
  '8daaf6152771': 'chromium',
  '5b57614c22b0': 'firefox',
  a09f3c656075: 'safari',
};

/** `ja4` in canonical form. These browsers speak TLS 1.3 and offer HTTP/2 or HTTP/3. */
export function contradictsTls(ja4: string | null, { engine, sendsFetchMetadata }: ClaimedBrowser): boolean {
  if (ja4 === null || engine === null) return false;
  const found = engineByCiphers[ja4.slice(CIPHERS_START, CIPHERS_END)];
  if (found !== undefined && found !== engine) return true;
  if (!sendsFetchMetadata) return false;
  const version = ja4.slice(1, 3);
  const protocol = ja4.slice(8, 10);
  return version !== '13' || (protocol !== 'h2' && protocol !== 'h3');
}
