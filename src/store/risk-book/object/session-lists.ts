/**
 * What the edges of an instance must learn at once about single sessions: scores that rose and sessions that were
 * ended. An entry lives until every JWT with the old score has expired. `version` rises with every entry and not when
 * one expires, so that edges fetch the lists only when there is news.
 */
import { LISTED_JTIS_MAX } from '../../../contract/edge/edge-responses.ts';
import type { RaisedSession, SessionLists } from '../rpc.ts';

export function createListTables(sql: SqlStorage): void {
  sql.exec(`CREATE TABLE IF NOT EXISTS raised (
     jti TEXT PRIMARY KEY, score REAL NOT NULL, detectors INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID`);
  sql.exec('CREATE TABLE IF NOT EXISTS withdrawn (jti TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID');
  sql.exec(
    'CREATE TABLE IF NOT EXISTS list_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)',
  );
}

export function listVersion(sql: SqlStorage): number {
  return sql.exec<{ version: number }>('SELECT version FROM list_version').toArray()[0]?.version ?? 0;
}

export function raiseListed(sql: SqlStorage, { jti, score, detectors }: RaisedSession, until: number): void {
  sql.exec(
    `INSERT INTO raised (jti, score, detectors, until) VALUES (?, ?, ?, ?)
     ON CONFLICT (jti) DO UPDATE SET score = excluded.score, detectors = excluded.detectors, until = excluded.until
     WHERE excluded.score >= score`,
    jti,
    score,
    detectors,
    until,
  );
  raiseVersion(sql);
}

export function withdrawListed(sql: SqlStorage, jti: string, until: number): void {
  sql.exec('DELETE FROM raised WHERE jti = ?', jti);
  sql.exec('INSERT OR REPLACE INTO withdrawn (jti, until) VALUES (?, ?)', jti, until);
  raiseVersion(sql);
}

/**
 * When there are too many entries: the highest scores and the newest withdrawals. Edges learn of the rest with the next
 * JWT, within five minutes.
 */
export function readLists(sql: SqlStorage, nowMs: number): SessionLists {
  const raised = sql
    .exec<RaisedSession & Record<string, SqlStorageValue>>(
      'SELECT jti, score, detectors FROM raised WHERE until > ? ORDER BY score DESC, until DESC LIMIT ?',
      nowMs,
      LISTED_JTIS_MAX,
    )
    .toArray()
    .map(({ jti, score, detectors }) => ({ jti, score, detectors }));
  const withdrawn = sql
    .exec<{ jti: string }>(
      'SELECT jti FROM withdrawn WHERE until > ? ORDER BY until DESC LIMIT ?',
      nowMs,
      LISTED_JTIS_MAX,
    )
    .toArray()
    .map(({ jti }) => jti);
  return { version: listVersion(sql), raised, withdrawn };
}

/** Returns when the next entry expires, or `null` when there is none. */
export function dropPast(sql: SqlStorage, nowMs: number): number | null {
  sql.exec('DELETE FROM raised WHERE until <= ?', nowMs);
  sql.exec('DELETE FROM withdrawn WHERE until <= ?', nowMs);
  return sql
    .exec<{ at: number | null }>(
      'SELECT MIN(at) AS at FROM (SELECT MIN(until) AS at FROM raised UNION ALL SELECT MIN(until) FROM withdrawn)',
    )
    .one().at;
}

function raiseVersion(sql: SqlStorage): void {
  sql.exec(
    'INSERT INTO list_version (one, version) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET version = version + 1',
  );
}
