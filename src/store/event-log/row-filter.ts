/**
 * What a reader asks for, in one value, with its two readings: SQL over hot rows and a predicate over
 * sealed ones. They must agree; a property test holds them together.
 */
import { decisions } from '../../contract/vocabulary.ts';
import { keyList } from './shard/hot-keys.ts';
import type { HotKeys } from './shard/hot-keys.ts';
import type { LogRecord } from './log-record.ts';
import { compareNewestFirst } from './log-row.ts';
import type { RowKey, StoredRow } from './log-row.ts';

export interface RowFilter {
  /** Epoch milliseconds, inclusive. */
  since: number;
  /** Exclusive. */
  until: number;
  /** Outcome numbers; `null`: any. */
  outcomes: readonly number[] | null;
  sources: readonly string[] | null;
  /** At least one of them fired. */
  firedRules: readonly string[] | null;
  asns: readonly number[] | null;
  devices: readonly string[] | null;
  /** Exact path, or with `prefix` the start of one. */
  path: { text: string; prefix: boolean } | null;
  minRulesFired: number;
  ip: string | null;
  jti: string | null;
}

export const everything: RowFilter = {
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
  outcomes: null,
  sources: null,
  firedRules: null,
  asns: null,
  devices: null,
  path: null,
  minRulesFired: 0,
  ip: null,
  jti: null,
};

export interface SqlCondition {
  where: string;
  bindings: (string | number)[];
}

/**
 * Over the columns of `verdicts`. Lists travel as one JSON binding: a statement takes 100 at most.
 * `keys`: what `HotKeys.matching` found, by all but the rules that fired.
 */
export function hotCondition(filter: RowFilter, keys: readonly RowKey[] | null): SqlCondition {
  const parts: string[] = [];
  const bindings: (string | number)[] = [];
  if (keys) {
    parts.push('(ts, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))');
    bindings.push(keyList(keys));
  } else byColumns(filter, parts, bindings);
  if (filter.firedRules) {
    parts.push(`EXISTS (SELECT 1 FROM json_each(body, '$.fired_rules') AS rule
      WHERE rule.value ->> 'id' IN (SELECT value FROM json_each(?)))`);
    bindings.push(JSON.stringify(filter.firedRules));
  }
  return { where: parts.join(' AND '), bindings };
}

function byColumns(filter: RowFilter, parts: string[], bindings: (string | number)[]): void {
  parts.push('kept = 1', 'ts >= ?', 'ts < ?');
  bindings.push(filter.since, filter.until);
  const among = (column: string, values: readonly (string | number)[] | null): void => {
    if (values === null) return;
    parts.push(`${column} IN (SELECT value FROM json_each(?))`);
    bindings.push(JSON.stringify(values));
  };
  const equals = (column: string, value: string | number | null): void => {
    if (value === null) return;
    parts.push(`${column} = ?`);
    bindings.push(value);
  };
  among('outcome', filter.outcomes);
  among('source', filter.sources);
  among('asn', filter.asns);
  among('device', filter.devices);
  equals('ip', filter.ip);
  equals('jti', filter.jti);
  if (filter.path?.prefix) {
    parts.push('instr(path, ?) = 1');
    bindings.push(filter.path.text);
  } else if (filter.path) equals('path', filter.path.text);
  const minFired = Math.max(filter.minRulesFired, filter.firedRules ? 1 : 0);
  if (minFired > 0) {
    parts.push('fired >= ?');
    bindings.push(minFired);
  }
}

/** The same question asked of a sealed row. */
export function matches(filter: RowFilter, record: LogRecord): boolean {
  if (record.timestamp < filter.since || record.timestamp >= filter.until) return false;
  if (filter.outcomes && !filter.outcomes.some((outcome) => decisions[outcome] === record.decision)) return false;
  if (filter.sources && !filter.sources.includes(record.source)) return false;
  if (filter.asns && (record.asn === null || !filter.asns.includes(record.asn))) return false;
  if (filter.devices && !filter.devices.includes(record.device_type)) return false;
  if (filter.ip !== null && record.ip !== filter.ip) return false;
  if (filter.jti !== null && record.jti !== filter.jti) return false;
  if (filter.path?.prefix && !record.request_path.startsWith(filter.path.text)) return false;
  if (filter.path && !filter.path.prefix && record.request_path !== filter.path.text) return false;
  if (record.fired_rules.length < filter.minRulesFired) return false;
  if (filter.firedRules && !record.fired_rules.some((rule) => filter.firedRules?.includes(rule.id))) return false;
  return true;
}

/**
 * Texts that the JSON of every matching record holds: looking for them costs a tenth of parsing a record that does
 * not match. Half a surrogate pair is left out: alone it is written otherwise than within the pair.
 */
export function fragmentsOf(filter: RowFilter): string[] {
  const texts = [filter.ip, filter.jti, filter.path?.text ?? null];
  for (const list of [filter.sources, filter.devices, filter.firedRules])
    if (list?.length === 1) texts.push(list[0] ?? null);
  const asn = filter.asns?.length === 1 ? [`"asn":${filter.asns[0]}`] : [];
  return [...texts.filter((text) => text?.isWellFormed()).map((text) => JSON.stringify(text).slice(1, -1)), ...asn];
}

export function hotRows(
  sql: SqlStorage,
  keys: HotKeys,
  filter: RowFilter,
  before: RowKey | null,
  limit: number,
): StoredRow[] {
  let matching = keys.matching(filter);
  if (matching && filter.firedRules === null) {
    const older = before === null ? matching : matching.filter((key) => compareNewestFirst(before, key) < 0);
    matching = older.sort(compareNewestFirst).slice(0, limit);
    if (matching.length === 0) return [];
  }
  const { where, bindings } = hotCondition(filter, matching);
  const cursor = before ? ' AND (ts, id) < (?, ?)' : '';
  return sql
    .exec<{ id: string; timestamp: number; body: string }>(
      `SELECT id, ts AS timestamp, body FROM verdicts WHERE ${where}${cursor} ORDER BY ts DESC, id DESC LIMIT ?`,
      ...bindings,
      ...(before ? [before.timestamp, before.id] : []),
      limit,
    )
    .toArray();
}

export function hotCount(sql: SqlStorage, keys: HotKeys, filter: RowFilter): number {
  if (filter.firedRules === null) return keys.count(filter);
  const { where, bindings } = hotCondition(filter, keys.matching(filter));
  return sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM verdicts WHERE ${where}`, ...bindings).one().n;
}
