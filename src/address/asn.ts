/** AS numbers in their one form: digits, or the number. Separate from the other types, since every request has one. */
import { ASN_MAX } from '../contract/management/policy-set/policy-fields.ts';

/** Digits without `AS` before them, or `null`. */
export function asnDigits(text: string): string | null {
  const digits = /^(?:AS)?(0|[1-9]\d{0,9})$/i.exec(text)?.[1];
  return digits !== undefined && Number(digits) <= ASN_MAX ? digits : null;
}

/** The number of a network that a header names, or `null`. AS 0 stands for no network (RFC 7607). */
export function canonicalAsn(text: string | null): number | null {
  if (text === null || text === '') return null;
  const digits = asnDigits(text);
  return digits === null || digits === '0' ? null : Number(digits);
}
