/**
 * Signals in the rule engine's own spelling, by the rule engine's own parsers: a value that could
 * not be written as a rule is no signal either (design 3.1, "Values").
 */
import { asnDigits } from './asn.ts';
import { formatIp, parseIp } from './ip.ts';
import { canonicalJa4 as canonicalFingerprint } from './ja4.ts';

/** The address as its one canonical text, IPv4-mapped IPv6 folded to IPv4. */
export function canonicalIp(text: string | null): string | null {
  if (text === null) return null;
  const parsed = parseIp(text);
  return parsed ? formatIp(parsed) : null;
}

export function canonicalAsn(text: string | null): number | null {
  if (text === null || text === '') return null;
  return remembered(asns, text, () => {
    const digits = asnDigits(text);
    return digits === null || digits === '0' ? null : Number(digits);
  });
}

/** Two letters, or `T1`. A code that ISO does not list is in no rule either: the list stays out of this Worker. */
export function canonicalCountry(text: string | null): string | null {
  return text !== null && /^(?:[a-z]{2}|t1)$/i.test(text) ? text.toUpperCase() : null;
}

export function canonicalJa4(text: string | null): string | null {
  return text === null ? null : canonicalFingerprint(text);
}

/** The same few networks come again and again. */
const REMEMBERED_MAX = 2000;
const asns = new Map<string, number | null>();

function remembered<T>(memory: Map<string, T>, text: string, make: () => T): T {
  const known = memory.get(text);
  if (known !== undefined) return known;
  if (memory.size >= REMEMBERED_MAX) memory.clear();
  const made = make();
  memory.set(text, made);
  return made;
}
