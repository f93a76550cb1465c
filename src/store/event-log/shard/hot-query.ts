/** Reads unsealed rows that match a filter: by their keys in memory if few match, else by SQL over the table. */
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import type { RowFilter } from '../row-filter.ts';
import { keyList } from './hot-keys.ts';
import type { HotKeys } from './hot-keys.ts';

export interface SqlCondition {
  where: string;
  bindings: (string | number)[];
}

/**
 * A condition over the columns of `verdicts`. Lists are one JSON binding each, because a statement takes at most 100
 * bindings. `keys`: the result of `HotKeys.matching`, which does not test the rules that fired.
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
  among('bot', filter.bots);
  among('proof', filter.proofs);
  equals('ip', filter.ip);
  equals('jti', filter.jti);
  equals('id', filter.id);
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
