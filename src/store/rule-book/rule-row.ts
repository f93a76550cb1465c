/**
 * A rule as the RuleBook keeps it, and its number codes. The codes are storage format: they may grow,
 * never change. `content` is the rule without its key, the JSON array a change holds as before/after.
 */
import type { Decision, EdgeRuleType } from '../../contract/vocabulary.ts';
import type { EdgeRule } from '../../rules/types.ts';

export const typeCodes = {
  ip: 0,
  ipMask: 1,
  asn: 2,
  countryCode: 3,
  ja4Hash: 4,
  userAgent: 5,
} as const satisfies Record<EdgeRuleType, number>;
export const verdictCodes = { allow: 0, challenge: 1, block: 2 } as const satisfies Record<Decision, number>;
const types = Object.keys(typeCodes) as EdgeRuleType[];
const verdicts = Object.keys(verdictCodes) as Decision[];
const MODE_MONITOR = 1;

/** A rule to be stored: canonical value, expiry in epoch seconds, rollout in percent. */
export interface RuleWrite extends EdgeRule {
  note?: string;
}

/** A stored rule. Times are epoch milliseconds, `expiry` epoch seconds. */
export interface StoredRule extends RuleWrite {
  createdAt: number;
  createdBy: string;
  updatedAt: number;
  updatedBy: string;
}

export interface RuleKey {
  type: EdgeRuleType;
  value: string;
}

/** Row of a query that selects `STORED_RULE_COLUMNS` from `rules r`. */
export type RuleRow = Record<string, SqlStorageValue> & {
  type: number;
  value: string;
  verdict: number;
  mode: number;
  expiry: number | null;
  rollout: number | null;
  note: string | null;
  created_at: number;
  created_by: string;
  updated_at: number;
  updated_by: string;
};

export const STORED_RULE_COLUMNS = `r.type, r.value, r.verdict, r.mode, r.expiry, r.rollout, r.note,
  r.created_at, (SELECT name FROM actors WHERE actor = r.created_by) AS created_by,
  r.updated_at, (SELECT name FROM actors WHERE actor = r.updated_by) AS updated_by`;

/** `[type, value, verdict, mode, expiry, rollout, note]`, as `writes.ts` unpacks it with json_each. */
export function packRule(rule: RuleWrite): readonly (string | number | null)[] {
  return [
    typeCodes[rule.type],
    rule.value,
    verdictCodes[rule.verdict],
    rule.mode === 'monitor' ? MODE_MONITOR : 0,
    rule.expiry ?? null,
    rule.rollout ?? null,
    rule.note ?? null,
  ];
}

export function storedRule(row: RuleRow): StoredRule {
  return {
    ...edgeRule(row),
    ...(row.note === null ? {} : { note: row.note }),
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
  };
}

/** The engine's part of a row. */
export function edgeRule(row: Pick<RuleRow, 'type' | 'value' | 'verdict' | 'mode' | 'expiry' | 'rollout'>): EdgeRule {
  return {
    type: typeOfCode(row.type),
    value: row.value,
    verdict: verdictOfCode(row.verdict),
    ...(row.mode === MODE_MONITOR ? { mode: 'monitor' as const } : {}),
    ...(row.expiry === null ? {} : { expiry: row.expiry }),
    ...(row.rollout === null ? {} : { rollout: row.rollout }),
  };
}

export function typeOfCode(code: number): EdgeRuleType {
  const type = types[code];
  if (type === undefined) throw new Error(`Unknown rule type code ${code}`);
  return type;
}

export function verdictOfCode(code: number): Decision {
  const verdict = verdicts[code];
  if (verdict === undefined) throw new Error(`Unknown verdict code ${code}`);
  return verdict;
}
