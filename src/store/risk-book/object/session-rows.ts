/**
 * The sessions of one book, one row each; tables: docs/storage-schema.md. The columns beside `state` are what queries
 * use: the networks to count cookie cycling, the age for deletion.
 */
import type { Neighbours } from '../../../address/networks.ts';
import { OPENED_COUNTED_MAX } from '../../../risk/facts.ts';
import type { OpenedBefore } from '../../../risk/facts.ts';
import type { SessionState } from '../../../risk/session-state.ts';

/** About 1.5 GB of states; the oldest are deleted first. A book holds a sixteenth of an instance's sessions. */
const SESSIONS_MAX = 1_000_000;
/** A smaller database cannot be full, so its rows are not counted. */
const COUNTED_FROM_BYTES = 1_000_000_000;
/** Rows deleted at once when the book is full, so that the next session does not find it full again. */
const MAKE_ROOM = 1000;
/** Rows the alarm deletes at once: about 50 ms, so that no session waits longer. */
const DROPPED_AT_ONCE = 5000;

export function createSessionTables(sql: SqlStorage): void {
  sql.exec(`CREATE TABLE IF NOT EXISTS sessions (
     jti TEXT PRIMARY KEY, near TEXT NOT NULL, around TEXT NOT NULL, opened_at INTEGER NOT NULL,
     kept_until INTEGER NOT NULL, idle INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`);
  sql.exec('CREATE INDEX IF NOT EXISTS sessions_near ON sessions (near, opened_at)');
  sql.exec('CREATE INDEX IF NOT EXISTS sessions_around ON sessions (around, opened_at)');
  sql.exec('CREATE INDEX IF NOT EXISTS sessions_by_end ON sessions (kept_until)');
  sql.exec('CREATE TABLE IF NOT EXISTS ended (jti TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID');
}

export class SessionRows {
  readonly #sql: SqlStorage;
  /** Counted once the database is large enough to be full; `null` before that. */
  #rows: number | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(jti: string): SessionState | null {
    const [row] = this.#sql.exec<{ state: string }>('SELECT state FROM sessions WHERE jti = ?', jti).toArray();
    return row === undefined ? null : (JSON.parse(row.state) as SessionState);
  }

  insert(jti: string, state: SessionState, { near, around }: Neighbours, keptUntil: number): void {
    if (this.#sql.databaseSize >= COUNTED_FROM_BYTES) this.#makeRoom();
    this.#sql.exec(
      `INSERT INTO sessions (jti, near, around, opened_at, kept_until, idle, state) VALUES (?, ?, ?, ?, ?, 1, ?)
       ON CONFLICT DO NOTHING`,
      jti,
      near,
      around,
      state.openedAt,
      keptUntil,
      JSON.stringify(state),
    );
    if (this.#rows !== null) this.#rows++;
  }

  update(jti: string, state: SessionState): void {
    this.#sql.exec(
      'UPDATE sessions SET idle = ?, state = ? WHERE jti = ?',
      state.telemetry.touched ? 0 : 1,
      JSON.stringify(state),
      jti,
    );
  }

  /** Sessions that these networks opened since then: those without any interaction, and the others. */
  openedSince({ near, around }: Neighbours, since: number): OpenedBefore {
    const [idleSessions, touchedSessions] = this.#openedBy('near', near, since);
    const [idleAround, touchedAround] = this.#openedBy('around', around, since);
    return { idleSessions, touchedSessions, idleAround, touchedAround };
  }

  #openedBy(column: 'near' | 'around', network: string, since: number): [idle: number, touched: number] {
    const { idle, all } = this.#sql
      .exec<{ idle: number; all: number }>(
        `SELECT COALESCE(SUM(idle), 0) AS idle, COUNT(*) AS "all" FROM
           (SELECT idle FROM sessions WHERE ${column} = ? AND opened_at >= ? ORDER BY opened_at DESC LIMIT ?)`,
        network,
        since,
        OPENED_COUNTED_MAX,
      )
      .one();
    return [idle, all - idle];
  }

  /** Deletes a session and blocks its renewal. */
  end(jti: string, until: number): boolean {
    const known = this.read(jti) !== null;
    this.#sql.exec('DELETE FROM sessions WHERE jti = ?', jti);
    this.#rows = null;
    this.#sql.exec(
      'INSERT INTO ended (jti, until) VALUES (?, ?) ON CONFLICT (jti) DO UPDATE SET until = MAX(until, excluded.until)',
      jti,
      until,
    );
    return known;
  }

  hasEnded(jti: string): boolean {
    return this.#sql.exec('SELECT 1 FROM ended WHERE jti = ?', jti).toArray().length > 0;
  }

  /**
   * Returns when the next row is due, or `null` when there is none. A time in the past means that more rows are due.
   */
  dropDue(nowMs: number): number | null {
    this.#sql.exec(
      'DELETE FROM sessions WHERE jti IN (SELECT jti FROM sessions WHERE kept_until <= ? LIMIT ?)',
      nowMs,
      DROPPED_AT_ONCE,
    );
    this.#sql.exec(
      'DELETE FROM ended WHERE jti IN (SELECT jti FROM ended WHERE until <= ? LIMIT ?)',
      nowMs,
      DROPPED_AT_ONCE,
    );
    this.#rows = null;
    return this.#sql
      .exec<{ at: number | null }>(
        `SELECT MIN(at) AS at FROM
           (SELECT MIN(kept_until) AS at FROM sessions UNION ALL SELECT MIN(until) FROM ended)`,
      )
      .one().at;
  }

  #makeRoom(): void {
    this.#rows ??= this.#sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM sessions').one().n;
    if (this.#rows < SESSIONS_MAX) return;
    this.#sql.exec(
      'DELETE FROM sessions WHERE jti IN (SELECT jti FROM sessions ORDER BY kept_until LIMIT ?)',
      MAKE_ROOM,
    );
    this.#rows -= MAKE_ROOM;
  }
}
