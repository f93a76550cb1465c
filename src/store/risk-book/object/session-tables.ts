/**
 * The tables that hold a book's sessions. Each has the sessions that were asked for on one day (UTC), and a busy day has
 * several. A session has no row but its own: the order of a table is the order of asking, and what has expired goes away
 * with its whole table, which costs no row for each session.
 */

/** About 75 MB, so that dropping or counting one takes a tenth of a second. */
export const TABLE_ROWS_MAX = 50_000;
/** About 1.5 GB of states; the oldest table goes first. A book holds a sixteenth of an instance's sessions. */
const SESSIONS_MAX = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface SessionTable {
  /** The first moment of asking that belongs here; also its name. Epoch milliseconds. */
  readonly start: number;
  readonly name: string;
  /** No session of it is kept longer. */
  keptUntil: number;
  rows: number;
}

export function createPeriodTable(sql: SqlStorage): void {
  sql.exec(
    'CREATE TABLE IF NOT EXISTS periods (start INTEGER PRIMARY KEY, kept_until INTEGER NOT NULL, rows INTEGER NOT NULL)',
  );
}

export class SessionTables {
  readonly #sql: SqlStorage;
  /** Oldest first. */
  readonly #tables: SessionTable[];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#tables = sql
      .exec<{ start: number; kept_until: number; rows: number }>('SELECT * FROM periods ORDER BY start')
      .toArray()
      .map(({ start, kept_until: keptUntil, rows }) => ({ start, name: nameOf(start), keptUntil, rows }));
    const newest = this.#tables.at(-1);
    // The others were counted when they were closed.
    if (newest !== undefined) newest.rows = sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM ${newest.name}`).one().n;
  }

  newestFirst(): SessionTable[] {
    return this.#tables.toReversed();
  }

  /** Where a session that was asked for then is, if it is stored. */
  at(askedAt: number): SessionTable | null {
    return this.#tables.findLast(({ start }) => start <= askedAt) ?? null;
  }

  /** Where to store a session that was asked for then. */
  toWrite(askedAt: number, keptUntil: number): SessionTable {
    const table = this.#tableFor(askedAt, keptUntil);
    if (keptUntil > table.keptUntil) {
      table.keptUntil = untilAll(askedAt, keptUntil);
      this.#sql.exec('UPDATE periods SET kept_until = ? WHERE start = ?', table.keptUntil, table.start);
    }
    table.rows++;
    return table;
  }

  /** Drops tables in which no session is kept any more. Returns when the next is due; `null`: there is none. */
  dropDue(nowMs: number): number | null {
    for (const table of this.#tables.filter(({ keptUntil }) => keptUntil <= nowMs)) this.#drop(table);
    return this.#tables.length === 0 ? null : Math.min(...this.#tables.map(({ keptUntil }) => keptUntil));
  }

  #tableFor(askedAt: number, keptUntil: number): SessionTable {
    const known = this.at(askedAt);
    const day = dayOf(askedAt);
    if (known === null || dayOf(known.start) !== day) return this.#create(day, askedAt, keptUntil);
    if (known.rows < TABLE_ROWS_MAX || this.#newestIn(known) >= askedAt) return known;
    return this.#create(askedAt, askedAt, keptUntil);
  }

  #create(start: number, askedAt: number, keptUntil: number): SessionTable {
    this.#makeRoom();
    const table = { start, name: nameOf(start), keptUntil: untilAll(askedAt, keptUntil), rows: 0 };
    const newest = this.#tables.at(-1);
    if (newest !== undefined) {
      this.#sql.exec('UPDATE periods SET rows = ? WHERE start = ?', newest.rows, newest.start);
    }
    this.#sql.exec(`CREATE TABLE ${table.name} (
       asked_at INTEGER NOT NULL, jti TEXT NOT NULL, near TEXT NOT NULL, around TEXT NOT NULL, opened_at INTEGER NOT NULL,
       kept_until INTEGER NOT NULL, idle INTEGER NOT NULL, opening TEXT, state TEXT NOT NULL,
       PRIMARY KEY (asked_at, jti)) WITHOUT ROWID`);
    this.#sql.exec('INSERT INTO periods (start, kept_until, rows) VALUES (?, ?, 0)', start, table.keptUntil);
    this.#tables.push(table);
    this.#tables.sort((a, b) => a.start - b.start);
    return table;
  }

  #newestIn({ name }: SessionTable): number {
    return this.#sql.exec<{ at: number | null }>(`SELECT MAX(asked_at) AS at FROM ${name}`).one().at ?? 0;
  }

  #makeRoom(): void {
    const [oldest] = this.#tables;
    const rows = this.#tables.reduce((sum, table) => sum + table.rows, 0);
    if (oldest !== undefined && rows + TABLE_ROWS_MAX > SESSIONS_MAX) this.#drop(oldest);
  }

  #drop(table: SessionTable): void {
    this.#sql.exec(`DROP TABLE ${table.name}`);
    this.#sql.exec('DELETE FROM periods WHERE start = ?', table.start);
    this.#tables.splice(this.#tables.indexOf(table), 1);
  }
}

/** Under the same settings, until the last session of that day is no longer kept; right to the hour. */
function untilAll(askedAt: number, keptUntil: number): number {
  return Math.ceil((dayOf(askedAt) + DAY_MS + keptUntil - askedAt) / HOUR_MS) * HOUR_MS;
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** Digits only, because a start is a number: the name cannot carry SQL. */
function nameOf(start: number): string {
  return `sessions_${Math.trunc(start)}`;
}
