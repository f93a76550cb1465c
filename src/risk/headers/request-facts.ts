/**
 * What the detectors of a single request look at: how it was sent, and what its headers and its address say. The edge
 * reads these facts from every request. The service knows some of them from the call that opened a session.
 */
import type { ClaimedBrowser } from './claimed-browser.ts';

export interface RequestHeaders {
  /** Https or localhost: only there do browsers send `Sec-Fetch-*` and `Sec-CH-UA*`. */
  secure: boolean;
  method: string;
  acceptLanguage: boolean;
  accept: string | null;
  /** As the visitor sent it. `null` is a missing header. */
  acceptEncoding: string | null;
  fetchSite: string | null;
  fetchMode: string | null;
  fetchDest: string | null;
  uaBrands: string | null;
  uaMobile: string | null;
  uaPlatform: string | null;
  upgradeInsecure: boolean;
  referer: boolean;
  range: boolean;
  /** An upgrade to a WebSocket: Chromium sends almost no headers with it. */
  webSocket: boolean;
}

/** A request of which nothing is known. */
export const unknownRequest: RequestHeaders = {
  secure: false,
  method: 'GET',
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
};

export interface RequestRiskFacts {
  userAgent: string;
  claim: ClaimedBrowser;
  /** `null` where they are not known. */
  headers: RequestHeaders | null;
  categories: readonly string[];
  ja4: string | null;
}

/** Browsers trust their own machine like https. */
const TRUSTWORTHY_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

export function isSecureContext({ scheme, host }: { scheme: string; host: string }): boolean {
  return scheme === 'https' || TRUSTWORTHY_HOST.test(host);
}
