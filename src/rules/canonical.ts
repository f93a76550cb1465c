/**
 * One spelling per value (design 3.1, "Values"). A rule is known by `(type, canonical value)`, so creating
 * `192.0.2.7/24` after `192.0.2.0/24` replaces it and deleting takes any spelling. Answers are values,
 * never exceptions: a bulk call reports each bad item by its index.
 */
import { failed, ok } from '../result.ts';
import type { Result } from '../result.ts';
import type { EdgeRuleType } from '../contract/vocabulary.ts';
import { asnDigits } from '../address/asn.ts';
import { countryCodes } from '../address/country-codes.ts';
import { formatCidr, formatIp, parseCidr, parseIp } from '../address/ip.ts';
import { canonicalJa4 } from '../address/ja4.ts';
import { foldCase } from './user-agent-fold.ts';

/** The canonical text, or what is wrong with the value: a phrase that follows its name. */
export type CanonicalValue = Result<string, string>;

/** `userAgent:` and this many characters still fit the 320 that a verdict record keeps of a rule id. */
export const USER_AGENT_VALUE_MAX_CHARS = 300;

function canonicalIp(text: string): CanonicalValue {
  const ip = parseIp(text);
  if (ip) return ok(formatIp(ip));
  return failed(
    text.includes('/')
      ? 'is a prefix; use type ipMask'
      : 'is not an IPv4 or IPv6 address in full (no shorthand, leading zeros, zone id or blanks)',
  );
}

function canonicalIpMask(text: string): CanonicalValue {
  const prefix = parseCidr(text);
  if (prefix) return ok(formatCidr(prefix));
  return failed(
    parseIp(text)
      ? 'has no prefix length; use type ip or append one'
      : 'is not a prefix like 192.0.2.0/24 or 2001:db8::/32',
  );
}

function canonicalAsn(text: string): CanonicalValue {
  const digits = asnDigits(text);
  return digits === null ? failed('is not an AS number: 0 to 4294967295, with or without AS before it') : ok(digits);
}

function canonicalCountry(text: string): CanonicalValue {
  // ASCII first: "ıt" upper-cases to IT too.
  const upper = /^[a-z][a-z\d]$/i.test(text) ? text.toUpperCase() : '';
  return countryCodes.has(upper) ? ok(upper) : failed('is not an ISO 3166-1 alpha-2 code, T1 or XX');
}

function canonicalFingerprint(text: string): CanonicalValue {
  const ja4 = canonicalJa4(text);
  return ja4 === null ? failed('is not a JA4 fingerprint like t13d1516h2_8daaf6152771_02713d6af862') : ok(ja4);
}

// oxlint-disable-next-line no-control-regex -- these are what a header cannot carry
const notInHeaders = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Case-folded, otherwise as given: a blank at either end is part of the substring. Refused are values that
 * could never match (control characters, broken text) and one that would match everyone (only blanks).
 */
function canonicalUserAgent(text: string): CanonicalValue {
  if (text.trim() === '') return failed('is empty');
  if (notInHeaders.test(text)) return failed('has a control character, which no header can carry');
  if (!text.isWellFormed()) return failed('is not well-formed Unicode');
  const folded = foldCase(text);
  return folded.length > USER_AGENT_VALUE_MAX_CHARS
    ? failed(`is longer than ${USER_AGENT_VALUE_MAX_CHARS} characters`)
    : ok(folded);
}

/** The canonical spelling of a rule's value, or why there is none. Only `asn` may be a number. */
export function canonicalValue(type: EdgeRuleType, value: string | number): CanonicalValue {
  if (typeof value === 'number') {
    return type === 'asn' ? canonicalAsn(String(value)) : failed('must be a string');
  }
  switch (type) {
    case 'ip':
      return canonicalIp(value);
    case 'ipMask':
      return canonicalIpMask(value);
    case 'asn':
      return canonicalAsn(value);
    case 'countryCode':
      return canonicalCountry(value);
    case 'ja4Hash':
      return canonicalFingerprint(value);
    case 'userAgent':
      return canonicalUserAgent(value);
  }
}
