/**
 * The sessions of one book, one row each; tables: docs/storage-schema.md. The columns beside `state` are what queries
 * use: the address to count cookie cycling, the network to list sessions by, the age for expiry.
 */
import type { Neighbours } from '../../../address/networks.ts';
import type { OpenedBefore } from '../../../risk/facts.ts';
import type { SessionState } from '../../../risk/session-state.ts';
import { askedAtOf } from '../session-id.ts';
import { OpenedSessions, type Opening, OPENINGS_MAX } from './opened-sessions.ts';
import { createPeriodTable, type SessionTable, SessionTables } from './session-tables.ts';
import { WaitingChanges, isNews } from './waiting-changes.ts';

/** Rows the alarm deletes at once: about 50 ms, so that no session waits longer. */
const DROPPED_AT_ONCE = 5000;
/** A challenge is valid for half as long: nobody asks for a session longer before it opens. */
const ASKED_BEFORE_MAX_MS = 600_000;
/** Openings in one value: about 500 KB, and below the 2 MB that one may have with the longest ids. */
const READ_AT_ONCE = 4000;

export function createSessionTables(sql: SqlStorage): void {
  createPeriodTable(sql);
  sql.exec('CREATE TABLE IF NOT EXISTS elsewhere (jti TEXT PRIMARY KEY, asked_at INTEGER NOT NULL) WITHOUT ROWID');
  sql.exec('CREATE TABLE IF NOT EXISTS ended (jti TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID');
}

/** Until version 1, all sessions were in one table. Their ids do not say when they were asked for. */
export function takeOverSessions(sql: SqlStorage): void {
  const tables = new SessionTables(sql);
  const sessions = sql.exec<{ jti: string; opened_at: number; kept_until: number }>(
    'SELECT jti, opened_at, kept_until FROM sessions ORDER BY opened_at',
  );
  for (const { jti, opened_at: openedAt, kept_until: keptUntil } of sessions.toArray()) {
    const { name } = tables.toWrite(openedAt, keptUntil);
    sql.exec('INSERT INTO elsewhere (jti, asked_at) VALUES (?, ?)', jti, openedAt);
    sql.exec(
      `INSERT INTO ${name} (asked_at, jti, near, around, opened_at, kept_until, idle, opening, state)
       SELECT opened_at, jti, near, around, opened_at, kept_until, idle, NULL, state FROM sessions WHERE jti = ?`,
      jti,
    );
  }
  sql.exec('DROP TABLE sessions');
}

interface Place {
  table: SessionTable;
  askedAt: number;
}

export interface StoredSession extends Place {
  state: SessionState;
  /** SHA-256 of what opened the session; `null` for one that was renewed into this book. */
  opening: string | null;
}

export class SessionRows {
  readonly #sql: SqlStorage;
  readonly tables: SessionTables;
  readonly waiting = new WaitingChanges();
  #opened = new OpenedSessions();
  /** From when on `#opened` is complete. */
  #openedSince = Infinity;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.tables = new SessionTables(sql);
  }

  read(jti: string, nowMs: number): StoredSession | null {
    const place = this.#place(jti);
    if (place === null) return null;
    const [row] = this.#sql
      .exec<{ state: string; opening: string | null }>(
        `SELECT state, opening FROM ${place.table.name} WHERE asked_at = ? AND jti = ? AND kept_until > ?`,
        place.askedAt,
        jti,
        nowMs,
      )
      .toArray();
    if (row === undefined) return null;
    return {
      ...place,
      opening: row.opening,
      state: this.waiting.read(jti) ?? (JSON.parse(row.state) as SessionState),
    };
  }

  /** Returns until when the session's table is kept. The session is not stored yet. */
  insert(jti: string, state: SessionState, network: Neighbours, keptUntil: number, opening: string | null): number {
    const { openedAt } = state;
    const own = askedAtOf(jti);
    const isOwn = own !== null && Math.abs(openedAt - own) <= ASKED_BEFORE_MAX_MS;
    const askedAt = isOwn ? own : openedAt;
    const table = this.tables.toWrite(askedAt, keptUntil);
    if (!isOwn) this.#sql.exec('INSERT OR REPLACE INTO elsewhere (jti, asked_at) VALUES (?, ?)', jti, askedAt);
    const idle = !state.telemetry.touched;
    this.#sql.exec(
      `INSERT INTO ${table.name} (asked_at, jti, near, around, opened_at, kept_until, idle, opening, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      askedAt,
      jti,
      network.near,
      network.around,
      openedAt,
      keptUntil,
      idle ? 1 : 0,
      opening,
      JSON.stringify(state),
    );
    this.#opened.add({ jti, address: network.near, openedAt, idle });
    return table.keptUntil;
  }

  /** Writes a change that counts at once; another one waits. */
  change(jti: string, known: StoredSession, after: SessionState, nowMs: number): void {
    if (isNews(known.state, after)) {
      this.waiting.drop(jti);
      this.#write(jti, known, after);
    } else {
      this.waiting.put(jti, after, nowMs);
    }
    for (const [due, state] of this.waiting.takeDue(nowMs)) this.#writeAt(due, state);
  }

  writeWaiting(): void {
    for (const [jti, state] of this.waiting.takeAll()) this.#writeAt(jti, state);
  }

  openedSince(address: string, since: number): OpenedBefore {
    if (since < this.#openedSince) this.#countOpened(since);
    return this.#opened.since(address, since);
  }

  /** Deletes a session and blocks its renewal. */
  end(jti: string, until: number): boolean {
    const place = this.#place(jti);
    this.waiting.drop(jti);
    const [row] =
      place === null
        ? []
        : this.#sql
            .exec<{ near: string }>(
              `DELETE FROM ${place.table.name} WHERE asked_at = ? AND jti = ? RETURNING near`,
              place.askedAt,
              jti,
            )
            .toArray();
    if (row !== undefined) this.#opened.remove(jti, row.near);
    this.#sql.exec('DELETE FROM elsewhere WHERE jti = ?', jti);
    this.#sql.exec(
      'INSERT INTO ended (jti, until) VALUES (?, ?) ON CONFLICT (jti) DO UPDATE SET until = MAX(until, excluded.until)',
      jti,
      until,
    );
    return row !== undefined;
  }

  hasEnded(jti: string): boolean {
    return this.#sql.exec('SELECT 1 FROM ended WHERE jti = ?', jti).toArray().length > 0;
  }

  /** Returns when the next row is due, or `null` when there is none. A time in the past means that more rows are due. */
  dropDue(nowMs: number): number | null {
    const next = this.tables.dropDue(nowMs);
    const oldest = this.tables.newestFirst().at(-1);
    this.#sql.exec('DELETE FROM elsewhere WHERE asked_at < ?', oldest?.start ?? Number.MAX_SAFE_INTEGER);
    this.#sql.exec(
      'DELETE FROM ended WHERE jti IN (SELECT jti FROM ended WHERE until <= ? LIMIT ?)',
      nowMs,
      DROPPED_AT_ONCE,
    );
    const ended = this.#sql.exec<{ at: number | null }>('SELECT MIN(until) AS at FROM ended').one().at;
    const due = [next, ended].filter((at) => at !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  #place(jti: string): Place | null {
    const own = askedAtOf(jti);
    const table = own === null ? null : this.tables.at(own);
    if (own !== null && table !== null && this.#isIn(table, own, jti)) return { table, askedAt: own };
    const [moved] = this.#sql.exec<{ asked_at: number }>('SELECT asked_at FROM elsewhere WHERE jti = ?', jti).toArray();
    const there = moved === undefined ? null : this.tables.at(moved.asked_at);
    return moved === undefined || there === null ? null : { table: there, askedAt: moved.asked_at };
  }

  #isIn({ name }: SessionTable, askedAt: number, jti: string): boolean {
    return this.#sql.exec(`SELECT 1 FROM ${name} WHERE asked_at = ? AND jti = ?`, askedAt, jti).toArray().length > 0;
  }

  #writeAt(jti: string, state: SessionState): void {
    const place = this.#place(jti);
    if (place !== null) this.#write(jti, place, state);
  }

  #write(jti: string, { table, askedAt }: Place, state: SessionState): void {
    const { touched } = state.telemetry;
    const [row] = this.#sql
      .exec<{ near: string }>(
        `UPDATE ${table.name} SET idle = ?, state = ? WHERE asked_at = ? AND jti = ? RETURNING near`,
        touched ? 0 : 1,
        JSON.stringify(state),
        askedAt,
        jti,
      )
      .toArray();
    if (row !== undefined && touched) this.#opened.touch(jti, row.near);
  }

  /** Oldest first, as they were added; of very many only the newest. */
  #countOpened(since: number): void {
    const openings: Opening[] = [];
    for (const { name } of this.tables.newestFirst()) {
      for (const opening of this.#openingsOf(name, since)) {
        if (openings.length < OPENINGS_MAX) openings.push(opening);
      }
      if (openings.length >= OPENINGS_MAX) break;
    }
    this.#opened = new OpenedSessions();
    for (const opening of openings.toReversed()) this.#opened.add(opening);
    this.#openedSince = since;
  }

  /** Newest first. Many rows travel as one value, which takes half the time of a cursor. */
  *#openingsOf(table: string, since: number): Iterable<Opening> {
    let [before, beforeJti] = [Number.MAX_SAFE_INTEGER, ''];
    for (let found = READ_AT_ONCE; found === READ_AT_ONCE;) {
      const { texts } = this.#sql
        .exec<{ texts: string }>(
          `SELECT json_group_array(json_array(asked_at, jti, near, opened_at, idle)) AS texts FROM
             (SELECT asked_at, jti, near, opened_at, idle FROM ${table} WHERE asked_at >= ? AND (asked_at, jti) < (?, ?)
              ORDER BY asked_at DESC, jti DESC LIMIT ?)`,
          since - ASKED_BEFORE_MAX_MS,
          before,
          beforeJti,
          READ_AT_ONCE,
        )
        .one();
      const rows = JSON.parse(texts) as [number, string, string, number, number][];
      for (const [askedAt, jti, address, openedAt, idle] of rows) {
        [before, beforeJti] = [askedAt, jti];
        yield { jti, address, openedAt, idle: idle === 1 };
      }
      found = rows.length;
    }
  }
}
