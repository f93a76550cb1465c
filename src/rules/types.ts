/** Types that the parts of the rule engine share. They are plain data. */
import type { IpAddress } from '../address/ip.ts';
import type { Decision, EdgeRuleType } from '../contract/vocabulary.ts';

/** A rule with a canonical value: the input of the compiler. */
export interface EdgeRule {
  type: EdgeRuleType;
  value: string;
  verdict: Decision;
  mode?: 'enforce' | 'monitor';
  /** Epoch seconds. From this second on the rule has no effect. */
  expiry?: number;
  /** Percent of visitors, 0–100; everyone when absent. */
  rollout?: number;
  /** The number of the list whose entry this is. Its verdict and mode are those of the list (`list-layers.ts`). */
  list?: number;
}

/** A rule without its type and value. */
export type RuleContent = Omit<EdgeRule, 'type' | 'value'>;

/** The facts of a request that rules match. Unknown facts are `null`. */
export interface MatchSignals {
  ip: string | null;
  /** The same address, where the caller has parsed it. */
  parsedIp?: IpAddress | null;
  asn: number | null;
  countryCode: string | null;
  ja4: string | null;
  /** The whole header; empty when the visitor sent none. */
  userAgent: string;
  /** 0–9999, in hundredths of a percent, stable for a visitor: decides whether a rollout includes them. */
  rolloutBucket: number;
}

/**
 * A rule that matched, enforced or monitored. `id` is `type:canonicalValue`, or `list:name` for an entry of a list. Fields
 * may be getters, which a spread (`{...rule}`) loses.
 */
export interface MatchedRule {
  readonly id: string;
  /** Of a list: `type:canonicalValue` of its most specific entry that matched. */
  readonly entry?: string | undefined;
  readonly type: EdgeRuleType;
  readonly verdict: Decision;
  readonly mode: 'enforce' | 'monitor';
}

export interface RuleMatch {
  /** Most specific enforced network rule: ip > longest ipMask > asn > countryCode. */
  network: MatchedRule | null;
  /** Most restrictive enforced ja4Hash or userAgent rule. */
  client: MatchedRule | null;
  /** Every rule that matched and is in force, monitored rules included, most specific first. */
  fired: readonly MatchedRule[];
}
