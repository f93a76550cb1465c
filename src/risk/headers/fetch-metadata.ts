/**
 * Which values of `Sec-Fetch-*` browsers send together (W3C Fetch Metadata), as recorded from Chromium, Firefox and
 * WebKit for every kind of request, service workers among them. Unknown destinations are left alone: new ones appear.
 */
export interface FetchMetadata {
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
