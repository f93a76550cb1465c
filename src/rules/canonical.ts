/**
 * One canonical text for each rule value. A rule is identified by its type and canonical value, so `192.0.2.7/24`
 * replaces `192.0.2.0/24`, and a delete call accepts any spelling. Errors are returned and not thrown, because a bulk
 * call reports each bad item by its index.
 */
import { failed, ok, type Result } from '../result.ts';
import type { EdgeRuleType } from '../contract/vocabulary.ts';
import { asnDigits } from '../address/asn.ts';
import { countryCodes } from '../address/country-codes.ts';
import { formatCidr, formatIp, parseCidr, parseIp } from '../address/ip.ts';
import { canonicalJa4 } from '../address/ja4.ts';
import { foldCase } from './user-agent-fold.ts';

/** The canonical text, or what is wrong with the value: a phrase that follows its name. */
export type CanonicalValue = Result<string, string>;

/** A verdict record keeps 320 characters of a rule id, which is the type, a colon and the value. */
export const USER_AGENT_VALUE_MAX_CHARS = 300;

function canonicalIp(text: string): CanonicalValue {
  const ip = parseIp(text);
  if (ip) return ok(formatIp(ip));
  return failed(
    text.includes('/')
      ? 'is a prefix; use type ipMask'
      : 'is not a complete IPv4 or IPv6 address (no shorthand, leading zeros, zone id or spaces)',
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
  // ASCII is checked first: "ıt" also becomes IT in upper case.
  const upper = /^[a-z][a-z\d]$/i.test(text) ? text.toUpperCase() : '';
  return countryCodes.has(upper) ? ok(upper) : failed('is not an ISO 3166-1 alpha-2 code, T1 or XX');
}

function canonicalFingerprint(text: string): CanonicalValue {
  const ja4 = canonicalJa4(text);
  return ja4 === null ? failed('is not a JA4 fingerprint like t13d1516h2_8daaf6152771_02713d6af862') : ok(ja4);
}

// oxlint-disable-next-line no-control-regex -- a header cannot contain these characters
const notInHeaders = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Case-folded, and otherwise unchanged: a space at either end is part of the substring. Values that can never match
 * (control characters, broken text) are refused, and so is a value that matches everyone (only spaces).
 */
function canonicalUserAgent(text: string): CanonicalValue {
  if (text.trim() === '') return failed('is empty');
  if (notInHeaders.test(text)) return failed('has a control character, which a header cannot contain');
  if (!text.isWellFormed()) return failed('is not well-formed Unicode');
  const folded = foldCase(text);
  return folded.length > USER_AGENT_VALUE_MAX_CHARS
    ? failed(`is longer than ${USER_AGENT_VALUE_MAX_CHARS} characters`)
    : ok(folded);
}

/** The canonical text of a rule's value, or what is wrong with it. Only `asn` may be a number. */
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
