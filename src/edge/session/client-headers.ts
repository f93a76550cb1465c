/**
 * What a session call's headers show of the browser that sent it, for the service's detectors. Bounded, and only what
 * distinguishes kinds of browsers, not people.
 */
import type { ClientHeaders } from '../../contract/edge/edge-api.ts';
import type { HeaderFacts } from '../request/header-facts.ts';

export function clientHeadersOf(facts: HeaderFacts): ClientHeaders {
  return {
    secure: facts.secure,
    acceptLanguage: facts.acceptLanguage,
    fetchSite: text(facts.fetchSite, 16),
    fetchMode: text(facts.fetchMode, 16),
    fetchDest: text(facts.fetchDest, 32),
    uaBrands: text(facts.uaBrands, 256),
    uaMobile: text(facts.uaMobile, 8),
    uaPlatform: text(facts.uaPlatform, 32),
  };
}

/** A longer header than any browser's is cut, not refused: it then fits no browser the detectors know. */
function text(value: string | null, maxChars: number): string | null {
  return value?.slice(0, maxChars) ?? null;
}
