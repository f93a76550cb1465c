/**
 * Shapes shared by the rule engine's parts. Plain data only: no clock, no binding, no fetch.
 */
import type { Decision, EdgeRuleType } from '../contract/vocabulary.ts';

/** A rule with a canonical value, as the compiler takes it. Times are epoch seconds. */
export interface EdgeRule {
  type: EdgeRuleType;
  value: string;
  verdict: Decision;
  mode?: 'enforce' | 'monitor';
  /** Epoch seconds; the rule is transparent from this second on. */
  expiry?: number;
  /** Percent 0–100; absent means everyone. */
  rollout?: number;
}

/** The facts of one request that rules can speak about. Absent facts are `null`, never a guess. */
export interface MatchSignals {
  ip: string | null;
  asn: number | null;
  countryCode: string | null;
  ja4: string | null;
  /** The whole header; empty when the visitor sent none. */
  userAgent: string;
  /** Stable per visitor, uniform in 0–9999 (hundredths of a percent); places a visitor in or out of a rollout. */
  rolloutBucket: number;
}

/** A rule that matched, enforced or only watched. `id` is `type:canonicalValue`. */
export interface MatchedRule {
  id: string;
  type: EdgeRuleType;
  verdict: Decision;
  mode: 'enforce' | 'monitor';
}

export interface RuleMatch {
  /** Most specific enforced network rule: ip > longest ipMask > asn > countryCode. */
  network: MatchedRule | null;
  /** Most restrictive enforced ja4Hash or userAgent rule. */
  client: MatchedRule | null;
  /** Every live match, monitored ones included, in specificity order. */
  fired: readonly MatchedRule[];
}
