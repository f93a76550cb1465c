/**
 * The country that a network or a proxy reports: two letters, or Cloudflare's `T1` for Tor. A code that ISO does not
 * list matches no rule, so the list itself (`country-codes.ts`) stays out of the edge.
 */
export function canonicalCountry(text: string | null): string | null {
  return text !== null && /^(?:[a-z]{2}|t1)$/i.test(text) ? text.toUpperCase() : null;
}
