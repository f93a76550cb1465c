/**
 * What a session call's headers show of the browser that sent it, for the service's detectors. Bounded, and only what
 * distinguishes kinds of browsers, not people.
 */
import type { ClientHeaders } from '../../contract/edge/edge-api.ts';

/** Browsers send fetch metadata and client hints to https and to their own machine only. */
const TRUSTWORTHY_HOST = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

export function clientHeadersOf(headers: Headers, target: { scheme: string; host: string } | null): ClientHeaders {
  // A longer header than any browser's is cut, not refused: it then fits no browser the detectors know.
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
