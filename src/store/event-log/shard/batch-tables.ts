/**
 * Batches of verdicts and reports that are not sealed, in two tables that take turns: one is filled with the rows of a
 * segment while the other is sealed. A table whose batches are all sealed is dropped, which writes no row; deleting them
 * would write one for each. The view `batches` reads both. Memory has a few numbers of each batch.
 */
import type { PackedBatch } from '../packed-batch.ts';

const tables = ['batches_0', 'batches_1'] as const;
type Table = 0 | 1;

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

/** What a row of JSON in `columns` takes of the memory beside its texts, while a query or sealing reads it. */
const KEY_BYTES = 350;

/** What is kept in memory of a batch. */
export interface BatchFacts {
  /** Number of its first row in the order of storing. */
  first: number;
  /** All records, also those that no reader sees. */
  records: number;
  maxTs: number;
  /** About what its keys take of the memory while they are read. */
  bytes: number;
}

export interface RewrittenBatch {
  rows: number;
  records: number;
  columns: string;
  bodies: Uint8Array;
}

export class BatchTables {
  readonly #sql: SqlStorage;
  /** The batches of each table by number, rising. */
  readonly #held: readonly [Map<number, BatchFacts>, Map<number, BatchFacts>] = [new Map(), new Map()];
  /** Their sums. */
  readonly #records: [number, number] = [0, 0];
  #bytes = 0;
  #filling: Table = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.load();
  }

  /** Records of all batches. */
  get size(): number {
    return this.#records[0] + this.#records[1];
  }

  /** About what all keys take of the memory if they are read at once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Oldest first: a table is filled only after the other. */
  all(): [no: number, batch: BatchFacts][] {
    return this.#filling === 0 ? [...this.#held[1], ...this.#held[0]] : [...this.#held[0], ...this.#held[1]];
  }

  get(no: number): BatchFacts | undefined {
    return this.#held[0].get(no) ?? this.#held[1].get(no);
  }

  /** Reads what the tables hold, without what is long in it; after a failed transaction too. */
  load(): void {
    this.#bytes = 0;
    const newest = tables.map((table, which) => {
      const held = this.#held[which as Table];
      held.clear();
      this.#records[which as Table] = 0;
      for (const { no, ...row } of this.#sql.exec<{ no: number; length: number } & Omit<BatchFacts, 'bytes'>>(
        `SELECT no, first, records, max_ts AS maxTs, octet_length(columns) AS length FROM ${table} ORDER BY no`,
      )) {
        this.#hold(which as Table, no, row);
      }
      return [...held.keys()].at(-1) ?? 0;
    });
    this.#filling = (newest[1] ?? 0) > (newest[0] ?? 0) ? 1 : 0;
  }

  insert(no: number, first: number, batch: PackedBatch): void {
    const records = batch.hashes.length;
    const values = [
      no,
      first,
      batch.rows,
      records,
      batch.maxTs,
      batch.isolate,
      JSON.stringify(batch.ranges),
      batch.numbered,
      batch.announced,
      batch.heardAt,
      batch.hashes.slice().buffer,
      batch.counts,
      batch.unkept,
      batch.counters,
      batch.columns,
      batch.bodies,
    ];
    this.#sql.exec(`INSERT INTO ${this.#tableToFill()} VALUES (${values.map(() => '?').join(', ')})`, ...values);
    this.#hold(this.#filling, no, { first, records, maxTs: batch.maxTs, length: batch.columns.length });
  }

  #hold(
    which: Table,
    no: number,
    { first, records, maxTs, length }: Omit<BatchFacts, 'bytes'> & { length: number },
  ): void {
    const bytes = length + records * KEY_BYTES;
    this.#held[which].set(no, { first, records, maxTs, bytes });
    this.#records[which] += records;
    this.#bytes += bytes;
  }

  #tableToFill(): string {
    const other: Table = this.#filling === 0 ? 1 : 0;
    if (this.#records[this.#filling] >= SEGMENT_ROWS && this.#held[other].size === 0) this.#filling = other;
    return tables[this.#filling];
  }

  /** Batches that are sealed best together with this one: all of its table, or `null` because those are too many. */
  together(no: number, recordsMax: number): ReadonlyMap<number, BatchFacts> | null {
    const which = this.#tableOf(no);
    return this.#records[which] <= recordsMax ? this.#held[which] : null;
  }

  #tableOf(no: number): Table {
    return this.#held[1].has(no) ? 1 : 0;
  }

  /** Runs inside the transaction that erases rows of the batch. Its counts are merged, and name what these asked for. */
  rewrite(no: number, { rows, records, columns, bodies }: RewrittenBatch): void {
    const which = this.#tableOf(no);
    this.#sql.exec(
      `UPDATE ${tables[which]} SET rows = ?, records = ?, columns = ?, bodies = ?, counts = '[]' WHERE no = ?`,
      rows,
      records,
      columns,
      bodies,
      no,
    );
    const { first, maxTs } = this.get(no) as BatchFacts;
    // A batch that is set again keeps its order in the map.
    this.#forget(which, no);
    this.#hold(which, no, { first, records, maxTs, length: columns.length });
  }

  delete(batches: readonly number[]): void {
    for (const [which, table] of tables.entries()) {
      const held = this.#held[which as Table];
      const listed = batches.filter((no) => held.has(no));
      if (listed.length === 0) continue;
      if (listed.length === held.size) emptyTable(this.#sql, table, COLUMNS);
      else this.#sql.exec(`DELETE FROM ${table} WHERE no IN (SELECT value FROM json_each(?))`, JSON.stringify(listed));
      for (const no of listed) {
        this.#forget(which as Table, no);
        held.delete(no);
      }
    }
  }

  #forget(which: Table, no: number): void {
    const known = this.#held[which].get(no);
    this.#records[which] -= known?.records ?? 0;
    this.#bytes -= known?.bytes ?? 0;
  }
}

/** Empties a table by dropping and creating it, which writes no row. Deleting its rows would write one for each. */
export function emptyTable(sql: SqlStorage, table: string, columns: string): void {
  try {
    sql.exec(`DROP TABLE ${table}`);
  } catch {
    // A statement that was not read to its end keeps the database from dropping a table.
    sql.exec(`DELETE FROM ${table}`);
    return;
  }
  sql.exec(`CREATE TABLE ${table} (${columns})`);
}
