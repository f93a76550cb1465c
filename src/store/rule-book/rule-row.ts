/**
 * A rule as the RuleBook stores it, and its number codes. The codes are a storage format: new ones may be added,
 * existing ones never change.
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

/** A rule to store: canonical value, expiry in epoch seconds, rollout in percent. */
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

/** The part of a row that the rule engine needs: type, value, verdict, mode, expiry, rollout. */
export type EngineRow = readonly [number, string, number, number, number | null, number | null];
type StoredRow = readonly [...EngineRow, string | null, number, string, number, string];

/**
 * A row of `rules r` as one JSON text. One text per row costs a fifth of one object per row, which makes a million
 * rules listable. `storedRules` unpacks it in the Worker.
 */
export const STORED_RULE_JSON = `json_array(r.type, r.value, r.verdict, r.mode, r.expiry, r.rollout, r.note,
  r.created_at, (SELECT name FROM actors WHERE actor = r.created_by),
  r.updated_at, (SELECT name FROM actors WHERE actor = r.updated_by))`;

/** `[type, value, verdict, mode, expiry, rollout, note]`, as `object/write-rules.ts` unpacks it with json_each. */
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

/** `packed`: a JSON array of rows selected as `STORED_RULE_JSON`. */
export function storedRules(packed: string): StoredRule[] {
  return (JSON.parse(packed) as StoredRow[]).map(storedRule);
}

function storedRule(row: StoredRow): StoredRule {
  const [type, value, verdict, mode, expiry, rollout, note, createdAt, createdBy, updatedAt, updatedBy] = row;
  return {
    ...edgeRule([type, value, verdict, mode, expiry, rollout]),
    ...(note === null ? {} : { note }),
    createdAt,
    createdBy,
    updatedAt,
    updatedBy,
  };
}

export function edgeRule([type, value, verdict, mode, expiry, rollout]: EngineRow): EdgeRule {
  return {
    type: typeOfCode(type),
    value,
    verdict: verdictOfCode(verdict),
    ...(mode === MODE_MONITOR ? { mode: 'monitor' as const } : {}),
    ...(expiry === null ? {} : { expiry }),
    ...(rollout === null ? {} : { rollout }),
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
