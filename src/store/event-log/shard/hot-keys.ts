/**
 * The keys of unsealed verdicts: their ids and the fields that filters use, so that only the rows of a page are read. A
 * query reads them from the `columns` of each batch and keeps as many as have room, because paths are as long as visitors
 * make them. It replaces table indexes, of which every entry would be a written row.
 */
import { type FilteredRow, passes, type RowFilter } from '../row-filter.ts';
import type { RowKey } from '../log-row.ts';
import type { RowColumns } from '../packed-batch.ts';
import type { BatchTables } from './batch-tables.ts';

export interface StoredKey extends RowKey {
  /** The batch that holds the row. */
  batch: number;
  /** Number in the order of storing. */
  seq: number;
}

export interface HotKey extends StoredKey, FilteredRow {
  /** The row's line in its batch, until an erasure moves the lines. */
  line: number;
}

const NO_RULES: readonly string[] = [];
/** Distinct sources, device types, bots and rules. */
const WORDS_MAX = 2000;
/** Keys in memory: enough for those of 60,000 usual rows, which is when sealing has begun long ago. */
const KEYS_HELD_MAX_BYTES = 32 * 1024 * 1024;

export class HotKeys {
  readonly #sql: SqlStorage;
  readonly #batches: BatchTables;
  readonly #bytesMax: number;
  /** By number of the batch. What finds no room is read each time. */
  readonly #held = new Map<number, readonly HotKey[]>();
  #bytes = 0;
  /** Shares one copy of these few texts between all rows. */
  readonly #words = new Map<string, string>();

  constructor(sql: SqlStorage, batches: BatchTables, bytesMax = KEYS_HELD_MAX_BYTES) {
    this.#sql = sql;
    this.#batches = batches;
    this.#bytesMax = bytesMax;
  }

  /** About what they take of the memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The keys of a batch, in the order of storing. */
  of(no: number): readonly HotKey[] {
    const held = this.#held.get(no);
    if (held !== undefined) return held;
    const facts = this.#batches.get(no);
    if (facts === undefined) return [];
    const { columns } = this.#sql.exec<{ columns: string }>('SELECT columns FROM batches WHERE no = ?', no).one();
    const keys = (JSON.parse(columns) as RowColumns[]).map((row, line) => this.#keyOf(no, line, facts.first, row));
    if (this.#bytes + facts.bytes <= this.#bytesMax) {
      this.#held.set(no, keys);
      this.#bytes += facts.bytes;
    }
    return keys;
  }

  #keyOf(batch: number, line: number, first: number, row: RowColumns): HotKey {
    const [at, id, timestamp, jti, ip, asn, outcome, source, device, bot, proof, path, rules] = row;
    return {
      batch,
      line,
      seq: first + at,
      id,
      timestamp,
      jti,
      ip,
      asn,
      outcome,
      source: this.#word(source),
      device: this.#word(device),
      bot: bot === null ? null : this.#word(bot),
      proof: proof === null ? null : this.#word(proof),
      path,
      rules: rules.length === 0 ? NO_RULES : rules.map((rule) => this.#word(rule)),
    };
  }

  #word(text: string): string {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    if (this.#words.size < WORDS_MAX) this.#words.set(text, text);
    return text;
  }

  /** The keys of these rows, in their order, without those that were erased. */
  at(stored: readonly StoredKey[]): HotKey[] {
    const wanted = new Set(stored.map(({ seq }) => seq));
    const found = new Map<number, HotKey>();
    for (const no of new Set(stored.map(({ batch }) => batch))) {
      for (const key of this.of(no)) if (wanted.has(key.seq)) found.set(key.seq, key);
    }
    return stored.flatMap(({ seq }) => found.get(seq) ?? []);
  }

  /** Before the batch changes or goes. */
  forget(no: number): void {
    if (this.#held.delete(no)) this.#bytes -= this.#batches.get(no)?.bytes ?? 0;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  /** Keys of the rows that were stored after the row of this number, in the order of storing. */
  *storedAfter(seq: number): Generator<HotKey> {
    const batches = this.#batches.all();
    for (const [index, [no]] of batches.entries()) {
      // Its keys are not read where the next batch begins before the wanted rows.
      if ((batches[index + 1]?.[1].first ?? Infinity) <= seq + 1) continue;
      for (const key of this.of(no)) if (key.seq > seq) yield key;
    }
  }

  /** The last of those that match, in the order of storing. */
  lastStored(filter: RowFilter, limit: number): HotKey[] {
    let found: HotKey[] = [];
    for (const [no] of this.#batches.all().toReversed()) {
      if (found.length >= limit) break;
      found = [...this.of(no).filter((key) => passes(filter, key)), ...found];
    }
    return found.slice(-limit);
  }

  *matching(filter: RowFilter): Generator<HotKey> {
    for (const [no] of this.#batches.all()) for (const key of this.of(no)) if (passes(filter, key)) yield key;
  }
}
