/** An edge access rule as the API lists it, and its words. */
import type { Schema } from '../../api/service-api.ts';

export type Rule = Schema<'AccessRule'>;
export type NewRule = Schema<'NewAccessRule'>;
export type RuleType = Rule['type'];

/** What a rule matches on, its name in a column, and what one and several of it are called. */
export const ruleTypes: Readonly<Record<RuleType, { name: string; short: string; noun: [string, string] }>> = {
  ip: { name: 'Address', short: 'Address', noun: ['address', 'addresses'] },
  ipMask: { name: 'Network', short: 'Network', noun: ['network', 'networks'] },
  asn: { name: 'AS number', short: 'AS number', noun: ['AS number', 'AS numbers'] },
  countryCode: { name: 'Country', short: 'Country', noun: ['country', 'countries'] },
  userAgent: { name: 'User agent contains', short: 'User agent', noun: ['user agent', 'user agents'] },
  ja4Hash: { name: 'JA4 fingerprint', short: 'JA4', noun: ['JA4 fingerprint', 'JA4 fingerprints'] },
};

/** As in the verdict log. */
export const loggedRuleId = ({ type, value }: Pick<Rule, 'type' | 'value'>): string => `${type}:${value}`;

const HOUR_MS = 3_600_000;
/** For how long a rule counts: key → name and time. */
const lifetimes = {
  none: ['until it is deleted', null],
  '1h': ['1 hour', HOUR_MS],
  '24h': ['24 hours', 24 * HOUR_MS],
  '7d': ['7 days', 7 * 24 * HOUR_MS],
  '30d': ['30 days', 30 * 24 * HOUR_MS],
} as const;
export type Lifetime = keyof typeof lifetimes;
export const lifetimeOptions = (Object.keys(lifetimes) as Lifetime[]).map((one) => [one, lifetimes[one][0]] as const);

/** `null`: it does not expire. */
export function expiryAfter(lifetime: Lifetime, nowMs: number): string | null {
  const [, ms] = lifetimes[lifetime];
  return ms === null ? null : new Date(nowMs + ms).toISOString();
}
