/**
 * The signals of a visitor as an operator gives them to the listing and to explain, checked as strictly as the value of
 * a rule, and the keys of all stored rules that can match them. An address has one key per prefix length. So its rules
 * are found with at most 130 look-ups, however many rules there are.
 */
import * as z from 'zod/mini';
import { canonicalValue } from '../../../../rules/canonical.ts';
import { parseIp } from '../../../../address/ip.ts';
import { foldCase } from '../../../../rules/user-agent-fold.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';

/** The longest header that common servers accept. */
const USER_AGENT_MAX_CHARS = 16_384;
const text = z.optional(z.string().check(z.maxLength(64)));

/** Fields of the request body; each is optional. */
export const visitorSignals = {
  ip: text,
  asn: z.optional(z.union([z.string().check(z.maxLength(64)), z.int()])),
  countryCode: text,
  ja4: text,
  userAgent: z.optional(z.string().check(z.maxLength(USER_AGENT_MAX_CHARS))),
};

export interface GivenSignals {
  ip?: string | undefined;
  asn?: string | number | undefined;
  countryCode?: string | undefined;
  ja4?: string | undefined;
  userAgent?: string | undefined;
}

/** In canonical form. An absent signal is `null`; an absent user agent is empty. */
export interface VisitorFacts {
  ip: string | null;
  asn: number | null;
  countryCode: string | null;
  ja4: string | null;
  userAgent: string;
}

/** @throws OperationError 400 that names each invalid signal. */
export function visitorFacts(given: GivenSignals): VisitorFacts {
  const errors: { path: string; message: string }[] = [];
  const read = (path: keyof GivenSignals, type: EdgeRuleType): string | null => {
    const value = given[path];
    if (value === undefined) return null;
    const canonical = canonicalValue(type, value);
    if (canonical.ok) return canonical.value;
    errors.push({ path, message: canonical.error });
    return null;
  };
  const asn = read('asn', 'asn');
  const facts: VisitorFacts = {
    ip: read('ip', 'ip'),
    asn: asn === null ? null : Number(asn),
    countryCode: read('countryCode', 'countryCode'),
    ja4: read('ja4', 'ja4Hash'),
    userAgent: given.userAgent ?? '',
  };
  if (errors.length > 0) throw new OperationError('API.INVALID_BODY', 'Some signals are not valid', errors);
  return facts;
}

/** Keys of every rule that can match these facts, except rules for parts of the user agent. */
export function matchingKeys(facts: VisitorFacts): RuleKey[] {
  const keys: RuleKey[] = [];
  if (facts.ip !== null) keys.push({ type: 'ip', value: facts.ip }, ...prefixKeys(facts.ip));
  if (facts.asn !== null) keys.push({ type: 'asn', value: String(facts.asn) });
  if (facts.countryCode !== null) keys.push({ type: 'countryCode', value: facts.countryCode });
  if (facts.ja4 !== null) keys.push({ type: 'ja4Hash', value: facts.ja4 });
  return keys;
}

/** Folded like the values of user agent rules. */
export function foldedUserAgent(facts: VisitorFacts): string {
  return foldCase(facts.userAgent);
}

function prefixKeys(ip: string): RuleKey[] {
  const bits = parseIp(ip)?.family === 6 ? 128 : 32;
  const keys: RuleKey[] = [];
  for (let length = bits; length >= 0; length -= 1) {
    const prefix = canonicalValue('ipMask', `${ip}/${length}`);
    if (prefix.ok) keys.push({ type: 'ipMask', value: prefix.value });
  }
  return keys;
}
