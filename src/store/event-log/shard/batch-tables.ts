/**
 * Batches of verdicts and reports that are not sealed, in two tables that take turns: one is filled with the rows of a
 * segment while the other is sealed. A table whose batches are all sealed is dropped, which writes no row; deleting them
 * would write one for each. The view `batches` reads both.
 */
const tables = ['batches_0', 'batches_1'] as const;
type Place = 0 | 1;

const COLUMNS = `no INTEGER PRIMARY KEY, first INTEGER NOT NULL, rows INTEGER NOT NULL, records INTEGER NOT NULL,
  max_ts INTEGER NOT NULL, isolate TEXT NOT NULL, ranges TEXT NOT NULL, numbered INTEGER NOT NULL, announced INTEGER NOT NULL,
  heard_at INTEGER NOT NULL, hashes BLOB NOT NULL, counts TEXT NOT NULL, unkept TEXT NOT NULL,
  counters TEXT NOT NULL, columns TEXT NOT NULL, bodies BLOB NOT NULL`;

export const batchStatements = [
  ...tables.map((table) => `CREATE TABLE IF NOT EXISTS ${table} (${COLUMNS})`),
  `CREATE VIEW IF NOT EXISTS batches AS ${tables.map((table) => `SELECT * FROM ${table}`).join(' UNION ALL ')}`,
];

/** Records of a full table, and of a full segment. */
export const SEGMENT_ROWS = 20_000;

export class BatchTables {
  readonly #sql: SqlStorage;
  /** The records of each batch by its number, for each table. */
  readonly #held: readonly [Map<number, number>, Map<number, number>] = [new Map(), new Map()];
  /** Their sums. */
  readonly #records: [number, number] = [0, 0];
  #filling: Place = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.load();
  }

  /** Reads what the tables hold; after a failed transaction too. */
  load(): void {
    const newest = tables.map((table, place) => {
      const held = this.#held[place as Place];
      held.clear();
      this.#records[place as Place] = 0;
      const rows = this.#sql.exec<{ no: number; records: number }>(`SELECT no, records FROM ${table} ORDER BY no`);
      for (const { no, records } of rows) this.#hold(place as Place, no, records);
      return [...held.keys()].at(-1) ?? 0;
    });
    this.#filling = (newest[1] ?? 0) > (newest[0] ?? 0) ? 1 : 0;
  }

  /** `values`: the columns in the order of the table. */
  insert(no: number, records: number, values: readonly (SqlStorageValue | Uint8Array)[]): void {
    this.#sql.exec(`INSERT INTO ${this.#tableToFill()} VALUES (${values.map(() => '?').join(', ')})`, ...values);
    this.#hold(this.#filling, no, records);
  }

  #hold(place: Place, no: number, records: number): void {
    this.#held[place].set(no, records);
    this.#records[place] += records;
  }

  #tableToFill(): string {
    const other: Place = this.#filling === 0 ? 1 : 0;
    if (this.#records[this.#filling] >= SEGMENT_ROWS && this.#held[other].size === 0) this.#filling = other;
    return tables[this.#filling];
  }

  /** Batches that are sealed best together with this one: all of its table, or `null` because those are too many. */
  together(no: number, recordsMax: number): ReadonlyMap<number, number> | null {
    const place: Place = this.#held[1].has(no) ? 1 : 0;
    return this.#records[place] <= recordsMax ? this.#held[place] : null;
  }

  /** The table of this batch, for a statement that changes it. */
  tableOf(no: number): string {
    return tables[this.#held[1].has(no) ? 1 : 0];
  }

  delete(batches: readonly number[]): void {
    for (const [place, table] of tables.entries()) {
      const held = this.#held[place as Place];
      const listed = batches.filter((no) => held.has(no));
      if (listed.length === 0) continue;
      if (listed.length < held.size || !this.#dropped(table)) {
        this.#sql.exec(`DELETE FROM ${table} WHERE no IN (SELECT value FROM json_each(?))`, JSON.stringify(listed));
      }
      for (const no of listed) {
        this.#records[place as Place] -= held.get(no) ?? 0;
        held.delete(no);
      }
    }
  }

  /** `false`: a statement that was not read to its end keeps the database from dropping a table. */
  #dropped(table: string): boolean {
    try {
      this.#sql.exec(`DROP TABLE ${table}`);
    } catch {
      return false;
    }
    this.#sql.exec(`CREATE TABLE ${table} (${COLUMNS})`);
    return true;
  }
}
