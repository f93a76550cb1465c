/**
 * One page of a book's sessions, in the order in which their pages asked for them, which is the order of the tables. A
 * page of one address passes over the sessions of other networks without reading them.
 */
import { neighboursOf } from '../../../address/networks.ts';
import type { SessionState } from '../../../risk/session-state.ts';
import type { SessionPage, SessionPlace, SessionQuery } from '../rpc.ts';
import type { SessionRows } from './session-rows.ts';

/** Rows that are passed over at once, and for one page: about 150 ms. */
const PASSED_AT_ONCE = 10_000;
const PASSED_MAX = 50_000;
/** About 300 KB. */
const READ_AT_ONCE = 200;

type Row = { at: number; jti: string; state: string };

export function sessionPage(sql: SqlStorage, rows: SessionRows, query: SessionQuery, nowMs: number): SessionPage {
  const sessions: SessionPage['sessions'] = [];
  let examined = 0;
  let last: SessionPlace | null = null;
  for (const row of rowsAfter(sql, rows, query, nowMs)) {
    // One row more than the page shows that there is a next one.
    if (sessions.length >= query.limit || examined >= query.examinedMax) return { sessions, next: last };
    if ('passedTo' in row) {
      last = row.passedTo;
      if (row.isLast) return { sessions, next: last };
      continue;
    }
    const { at, jti, state: text } = row;
    examined++;
    last = { at, jti };
    const { history: _history, ...state } = rows.waiting.read(jti) ?? (JSON.parse(text) as SessionState);
    if (state.score < query.minRisk || state.updatedAt < query.since) continue;
    if (query.ip !== null && !state.addresses.includes(query.ip)) continue;
    sessions.push({ at, jti, state });
  }
  return { sessions, next: null };
}

/** Everything down to this place is read or passed over. */
interface Passed {
  passedTo: SessionPlace;
  isLast: boolean;
}

function* rowsAfter(
  sql: SqlStorage,
  { tables }: SessionRows,
  { ip, before }: SessionQuery,
  nowMs: number,
): Iterable<Row | Passed> {
  const network = ip === null ? null : neighboursOf(ip).near;
  let place = before ?? { at: Number.MAX_SAFE_INTEGER, jti: '' };
  let passed = 0;
  for (const { name, start } of tables.newestFirst()) {
    if (start > place.at) continue;
    if (network === null) {
      const all = `SELECT asked_at AS at, jti, state FROM ${name} WHERE kept_until > ? AND (asked_at, jti) < (?, ?)`;
      yield* inParts(sql, all, [nowMs], place);
      continue;
    }
    // Rows of earlier releases have the network in `near`.
    const own = `SELECT asked_at AS at, jti, state FROM ${name}
      WHERE ? IN (near, around) AND kept_until > ? AND (asked_at, jti) >= (?, ?) AND (asked_at, jti) < (?, ?)`;
    for (let end: SessionPlace | undefined; ; place = end) {
      [end] = sql
        .exec<{ at: number; jti: string }>(
          `SELECT asked_at AS at, jti FROM ${name} WHERE (asked_at, jti) < (?, ?)
           ORDER BY asked_at DESC, jti DESC LIMIT 1 OFFSET ?`,
          place.at,
          place.jti,
          PASSED_AT_ONCE - 1,
        )
        .toArray();
      const down = end ?? { at: start, jti: '' };
      yield* inParts(sql, own, [network, nowMs, down.at, down.jti], place);
      if (end === undefined) break;
      passed += PASSED_AT_ONCE;
      yield { passedTo: end, isLast: passed >= PASSED_MAX };
    }
  }
}

/** A cursor that is left open would lock its table, which could then not be dropped. */
function* inParts(sql: SqlStorage, select: string, values: SqlStorageValue[], before: SessionPlace): Iterable<Row> {
  let place = before;
  for (let found = READ_AT_ONCE; found === READ_AT_ONCE;) {
    const rows = sql
      .exec<Row>(`${select} ORDER BY asked_at DESC, jti DESC LIMIT ?`, ...values, place.at, place.jti, READ_AT_ONCE)
      .toArray();
    yield* rows;
    place = rows.at(-1) ?? place;
    found = rows.length;
  }
}
