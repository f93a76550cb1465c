/**
 * One page of a book's sessions. Indices that exist for other reasons give the order, so that a list costs no written
 * rows: the end of retention, which is a fixed time after the opening, or for one address the sessions of its network by
 * their opening.
 */
import { neighboursOf } from '../../../address/networks.ts';
import type { SessionState } from '../../../risk/session-state.ts';
import type { ListedSession, SessionPage, SessionPlace, SessionQuery } from '../rpc.ts';

type Row = { at: number; jti: string; state: string };

export function sessionPage(sql: SqlStorage, query: SessionQuery, nowMs: number): SessionPage {
  const sessions: ListedSession[] = [];
  let examined = 0;
  let last: SessionPlace | null = null;
  for (const { at, jti, state: text } of rowsAfter(sql, query, nowMs)) {
    // One row more than the page shows that there is a next one.
    if (sessions.length >= query.limit || examined >= query.examinedMax) return { sessions, next: last };
    examined++;
    last = { at, jti };
    const { history: _history, ...state } = JSON.parse(text) as SessionState;
    if (state.score < query.minRisk || state.updatedAt < query.since) continue;
    if (query.ip !== null && !state.addresses.includes(query.ip)) continue;
    sessions.push({ at, jti, state });
  }
  return { sessions, next: null };
}

function rowsAfter(sql: SqlStorage, { ip, before }: SessionQuery, nowMs: number): Iterable<Row> {
  const { at, jti } = before ?? { at: Number.MAX_SAFE_INTEGER, jti: '' };
  if (ip === null) {
    return sql.exec<Row>(
      `SELECT kept_until AS at, jti, state FROM sessions WHERE kept_until > ? AND (kept_until, jti) < (?, ?)
       ORDER BY kept_until DESC, jti DESC`,
      nowMs,
      at,
      jti,
    );
  }
  return sql.exec<Row>(
    `SELECT opened_at AS at, jti, state FROM sessions WHERE near = ? AND kept_until > ? AND (opened_at, jti) < (?, ?)
     ORDER BY opened_at DESC, jti DESC`,
    neighboursOf(ip).near,
    nowMs,
    at,
    jti,
  );
}
