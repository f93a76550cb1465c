/**
 * Signals in the rule engine's own spelling, by the rule engine's own parsers: a value that could
 * not be written as a rule is no signal either (design 3.1, "Values").
 */
import { canonicalValue } from '../rules/canonical.ts';
import { formatIp, parseIp } from '../rules/ip.ts';
import { canonicalJa4 as canonicalFingerprint } from '../rules/ja4.ts';

/** The address as its one canonical text, IPv4-mapped IPv6 folded to IPv4. */
export function canonicalIp(text: string | null): string | null {
  if (text === null) return null;
  const parsed = parseIp(text);
  return parsed ? formatIp(parsed) : null;
}

export function canonicalAsn(text: string | null): number | null {
  if (text === null || text === '') return null;
  const asn = canonicalValue('asn', text);
  return asn.ok && asn.value !== '0' ? Number(asn.value) : null;
}

export function canonicalCountry(text: string | null): string | null {
  if (text === null || text === '') return null;
  const country = canonicalValue('countryCode', text);
  return country.ok ? country.value : null;
}

export function canonicalJa4(text: string | null): string | null {
  return text === null ? null : canonicalFingerprint(text);
}
