/**
 * The naive engine with which the real one is compared: it scans a list of rules one by one, with addresses as big
 * integers. It shares no code with the engine or with its parser of addresses.
 */
import type { Decision, EdgeRuleType } from '../../../src/contract/vocabulary.ts';
import type { MatchSignals, MatchedRule, RuleMatch } from '../../../src/rules/types.ts';

export interface OracleAddress {
  family: 4 | 6;
  bits: bigint;
}

export interface OracleRule {
  type: EdgeRuleType;
  value: string;
  verdict: Decision;
  mode?: 'enforce' | 'monitor';
  expiry?: number;
  rollout?: number;
  /** Of `ip` and `ipMask`. */
  prefix?: OracleAddress & { length: number };
}

/** A request. Its address is given as bits as well as the text that the engine reads. */
export interface OracleSignals extends MatchSignals {
  address: OracleAddress | null;
}

const width = { 4: 32, 6: 128 } as const;
const strictness: Decision[] = ['allow', 'challenge', 'block'];

/** Every group is written in full and never compressed, unlike the engine's text. */
export function longText({ family, bits }: OracleAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join('.');
  return Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
}

export function holds(prefix: OracleAddress & { length: number }, address: OracleAddress | null): boolean {
  if (!address || prefix.family !== address.family) return false;
  const host = BigInt(width[prefix.family] - prefix.length);
  return prefix.bits >> host === address.bits >> host;
}

/** Letters with a second lower-case form, and the first one. */
const secondForms = new Map([
  ['ς', 'σ'],
  ['ſ', 's'],
  ['\u00b5', '\u03bc'],
]);
const lower = (text: string): string =>
  Array.from(text, (char) => secondForms.get(char) ?? char.toLowerCase()).join('');

function matchesRule(rule: OracleRule, signals: OracleSignals): boolean {
  switch (rule.type) {
    case 'ip':
    case 'ipMask':
      return rule.prefix !== undefined && holds(rule.prefix, signals.address);
    case 'asn':
      return signals.asn !== null && String(signals.asn) === rule.value;
    case 'countryCode':
      return signals.countryCode === rule.value;
    case 'ja4Hash':
      return signals.ja4 !== null && signals.ja4.toLowerCase() === rule.value;
    case 'userAgent':
      return lower(signals.userAgent).includes(rule.value);
  }
}

function specificity(rule: OracleRule): number {
  if (rule.type === 'ip') return 1000;
  if (rule.type === 'ipMask') return 100 + (rule.prefix?.length ?? 0);
  return { asn: 3, countryCode: 2, ja4Hash: 1, userAgent: 0 }[rule.type];
}

export function oracleMatch(rules: readonly OracleRule[], signals: OracleSignals, nowSeconds: number): RuleMatch {
  const live = rules.filter(
    (rule) =>
      matchesRule(rule, signals) &&
      (rule.expiry === undefined || nowSeconds < rule.expiry) &&
      (rule.rollout === undefined || signals.rolloutBucket < rule.rollout * 100),
  );
  const asMatched = (rule: OracleRule): MatchedRule => ({
    id: `${rule.type}:${rule.value}`,
    type: rule.type,
    verdict: rule.verdict,
    mode: rule.mode ?? 'enforce',
  });
  const sorted = live.toSorted((a, b) => specificity(b) - specificity(a) || (a.value < b.value ? -1 : 1));
  const enforced = sorted.filter((rule) => rule.mode !== 'monitor');
  const network = enforced.find((rule) => specificity(rule) > 1);
  const clients = enforced.filter((rule) => specificity(rule) <= 1);
  const client = clients.toSorted((a, b) => strictness.indexOf(b.verdict) - strictness.indexOf(a.verdict))[0];
  return {
    network: network ? asMatched(network) : null,
    client: client ? asMatched(client) : null,
    fired: sorted.map(asMatched),
  };
}
