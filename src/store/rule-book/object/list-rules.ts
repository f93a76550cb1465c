/**
 * Lists rules: one page in key order, the exact total, and the rules that match a visitor. Every query is a range of
 * the primary key, so a page costs the same in a book of a million rules. Only a filter by verdict reads the rows it
 * skips.
 */
import type { EdgeRuleType } from '../../../contract/vocabulary.ts';
import { type RuleKey, STORED_RULE_JSON, type StoredRule, storedRules, typeCodes, verdictCodes } from '../rule-row.ts';
import type { RuleFilter, RulePageQuery } from '../rpc.ts';
import { countRules } from './write-rules.ts';

/** Upper bound of every text with a given prefix: no rule value contains the last code point. */
const AFTER_ANY_TEXT = '\u{10FFFF}';
/** In the order of their codes, which is the order of the list. */
const listedTypes = (Object.keys(typeCodes) as EdgeRuleType[]).toSorted((a, b) => typeCodes[a] - typeCodes[b]);

/** Packed for `storedRules`. */
export function packedPage(sql: SqlStorage, query: RulePageQuery): string {
  const rows: string[] = [];
  const after = query.after;
  for (const type of listedTypes) {
    if (query.type !== undefined && query.type !== type) continue;
    if (after && typeCodes[type] < typeCodes[after.type]) continue;
    const { where, bindings } = range(type, query);
    if (after?.type === type) {
      where.push('r.value > ?');
      bindings.push(after.value);
    }
    const cursor = sql.exec(
      `SELECT ${STORED_RULE_JSON} FROM rules r WHERE ${where.join(' AND ')} ORDER BY r.type, r.value LIMIT ?`,
      ...bindings,
      query.limit - rows.length,
    );
    for (const [row] of cursor.raw<[string]>()) rows.push(row);
    if (rows.length >= query.limit) break;
  }
  return packed(rows);
}

/** Exact. Without `valuePrefix` it comes from the counters, else it is counted over the range. */
export function ruleTotal(sql: SqlStorage, filter: RuleFilter): number {
  if (filter.valuePrefix === undefined) {
    if (filter.type === undefined && filter.verdict === undefined) return countRules(sql);
    return sql
      .exec<{ rules: number }>(
        'SELECT COALESCE(SUM(rules), 0) AS rules FROM counts WHERE (?1 IS NULL OR type = ?1) AND (?2 IS NULL OR verdict = ?2)',
        filter.type === undefined ? null : typeCodes[filter.type],
        filter.verdict === undefined ? null : verdictCodes[filter.verdict],
      )
      .one().rules;
  }
  let total = 0;
  for (const type of listedTypes) {
    if (filter.type !== undefined && filter.type !== type) continue;
    const { where, bindings } = range(type, filter);
    total += sql
      .exec<{ rules: number }>(`SELECT COUNT(*) AS rules FROM rules r WHERE ${where.join(' AND ')}`, ...bindings)
      .one().rules;
  }
  return total;
}

/** The rules under these keys, in the order of the keys; at most `limit`. */
export function rulesUnder(sql: SqlStorage, keys: readonly RuleKey[], limit: number): StoredRule[] {
  const cursor = sql.exec(
    `SELECT ${STORED_RULE_JSON} FROM json_each(?1) j
       JOIN rules r ON r.type = j.value ->> 0 AND r.value = j.value ->> 1 ORDER BY j.key LIMIT ?2`,
    JSON.stringify(keys.map((key) => [typeCodes[key.type], key.value])),
    limit,
  );
  return storedRules(packed([...cursor.raw<[string]>()].map(([row]) => row)));
}

function packed(rows: readonly string[]): string {
  return `[${rows.join(',')}]`;
}

function range(type: EdgeRuleType, filter: RuleFilter): { where: string[]; bindings: (string | number)[] } {
  const where = ['r.type = ?'];
  const bindings: (string | number)[] = [typeCodes[type]];
  if (filter.valuePrefix !== undefined && filter.valuePrefix !== '') {
    const prefix = canonicalPrefix(type, filter.valuePrefix);
    where.push('r.value >= ?', 'r.value < ?');
    bindings.push(prefix, prefix + AFTER_ANY_TEXT);
  }
  if (filter.verdict !== undefined) {
    where.push('r.verdict = ?');
    bindings.push(verdictCodes[filter.verdict]);
  }
  return { where, bindings };
}

/** The spelling that canonical values of a type start with. */
function canonicalPrefix(type: EdgeRuleType, prefix: string): string {
  if (type === 'countryCode') return prefix.toUpperCase();
  if (type === 'asn') return prefix.replace(/^as/i, '');
  return prefix.toLowerCase();
}
