/**
 * What is not sealed yet, and its counts: verdicts by batch, captchas merged from their events. Everything in memory is
 * rebuilt from the stored batches. A record is counted from the moment its batch is stored: the tables hold the counts
 * of batches up to the watermark, `pending` the counts of later ones.
 */
import { captchaTerms, logRecord, outcomeOf } from '../log-record.ts';
import { type CaptchaEvent, type CaptchaRecord, captchaStatuses } from '../captcha-record.ts';
import type { BatchAnswer, BatchCounters, PackedBatch } from '../packed-batch.ts';
import { PackedLines } from '../packed-lines.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import type { AppendCounts, EdgeSums } from '../shard-rpc.ts';
import { BatchTables } from './batch-tables.ts';
import { CounterSums } from './edge-counters.ts';
import { type CaptchaChange, HotCaptchas } from './hot-captchas.ts';
import { HotKeys } from './hot-keys.ts';
import { type IsolateBatch, IsolateBook } from './isolate-book.ts';
import { RollupStore } from './rollup-store.ts';
import { readMeta, writeMeta } from './schema.ts';

/**
 * Counts are merged when a segment is sealed, because each merge writes every bucket that it touches. These bounds hold
 * while nothing can be sealed, and against visitors who send a new path and user agent each time: about 20 MB.
 */
const PENDING_ROWS_MAX = 50_000;
const PENDING_VALUES_MAX = 60_000;

export class HotRows {
  readonly rollups: RollupStore;
  readonly keys: HotKeys;
  readonly isolates: IsolateBook;
  readonly counters: CounterSums;
  readonly batches: BatchTables;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #captchas!: HotCaptchas;
  #pending = new Aggregate();
  #nextBatch = 1;
  #nextSeq = 1;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.rollups = new RollupStore(storage.sql);
    this.isolates = new IsolateBook(storage.sql);
    this.counters = new CounterSums(storage.sql);
    this.batches = new BatchTables(storage.sql);
    this.keys = new HotKeys(storage.sql, this.batches);
    this.#rebuild();
  }

  get pending(): Aggregate {
    return this.#pending;
  }

  get captchas(): HotCaptchas {
    return this.#captchas;
  }

  /** Number of the last row in the order of storing. */
  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  /** Records of either stream that are not sealed. */
  get size(): number {
    return this.batches.size + this.#captchas.size;
  }

  /** About what they take of the memory if all are read at once. */
  get bytes(): number {
    return this.batches.bytes + this.#captchas.bytes;
  }

  /** About what of them is in memory. */
  get memoryBytes(): number {
    return this.keys.bytes + this.#captchas.memoryBytes;
  }

  /** A batch counts by its newest record. */
  holdsOlderThan(moment: number): boolean {
    for (const [, { maxTs }] of this.batches.all()) if (maxTs < moment) return true;
    return this.#captchas.between(0, moment).next().done !== true;
  }

  /** Each batch is stored as a whole, or not at all because some of its numbers are known. */
  append(batches: readonly PackedBatch[]): BatchAnswer[] {
    const answers: BatchAnswer[] = [];
    this.transaction(() => {
      for (const batch of batches) {
        const answer = this.isolates.examine(batch);
        if (answer.known.length === 0) this.#store(batch);
        answers.push(answer);
      }
    });
    this.#boundPending();
    return answers;
  }

  #store(batch: PackedBatch): void {
    const no = this.#nextBatch++;
    this.batches.insert(no, this.#nextSeq, batch);
    this.#nextSeq += batch.rows;
    this.#count(batch);
  }

  #count(batch: CountedBatch): void {
    this.#pending.addPacked(batch.counts, batch.hashes.length);
    this.counters.add(JSON.parse(batch.counters) as BatchCounters);
    this.isolates.add(batch);
  }

  /** Merges each captcha event into its record, and counts the record anew. */
  mergeCaptchas(events: readonly CaptchaEvent[]): AppendCounts {
    const counts = this.transaction(() => this.#captchas.append(events, (change) => this.#countChange(change)));
    this.#boundPending();
    return counts;
  }

  #countChange({ before, after }: CaptchaChange): void {
    if (before) addCaptcha(this.#pending, before, -1);
    addCaptcha(this.#pending, after, 1);
  }

  #boundPending(): void {
    const { rows, values } = this.#pending;
    if (rows >= PENDING_ROWS_MAX || values >= PENDING_VALUES_MAX || this.#captchas.needsMerge) this.mergePending();
  }

  /** Rebuilds the memory from the tables after a failed transaction. */
  transaction<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.rollups.forgetCache();
      this.batches.load();
      this.#rebuild();
      throw error;
    }
  }

  /** Moves the pending counts into the tables, and the watermark with them. */
  mergePending(alsoInTransaction?: () => void): void {
    const merged = Math.max(this.#nextBatch - 1, this.#captchas.lastBatch);
    this.transaction(() => {
      this.rollups.mergeAggregate(this.#pending);
      this.counters.write();
      this.isolates.write();
      this.#captchas.write();
      writeMeta(this.#sql, 'merged', JSON.stringify([merged, this.lastSeq]));
      alsoInTransaction?.();
    });
    this.#pending = new Aggregate();
    this.counters.forgetFresh();
    this.isolates.forgetFresh();
    this.#captchas.forgetFresh();
  }

  /** Forgets the counts of everything that is sealed. */
  recount(alsoInTransaction: () => void): void {
    this.mergePending(() => {
      this.rollups.clear();
      this.rollups.mergeAggregate(this.#unsealed());
      alsoInTransaction();
    });
  }

  #unsealed(): Aggregate {
    const counts = new Aggregate();
    for (const { bodies, unkept } of this.#sql.exec<{ bodies: ArrayBuffer; unkept: string }>(
      'SELECT bodies, unkept FROM batches',
    )) {
      if (unkept !== '') counts.addPacked(unkept, 0);
      for (const body of new PackedLines(bodies).all()) {
        const record = logRecord(body);
        counts.add(record, record.timestamp, outcomeOf(record.decision));
      }
    }
    for (const { body } of this.#captchas.all()) addCaptcha(counts, JSON.parse(body) as CaptchaRecord, 1);
    return counts;
  }

  edgeSums(): Omit<EdgeSums, 'room'> {
    return { counters: this.counters.sums(), gaps: this.isolates.gaps() };
  }

  /** Builds the memory from the tables: the counts of batches after the watermark. */
  #rebuild(): void {
    const [merged, lastSeq] = JSON.parse(readMeta(this.#sql, 'merged') ?? '[0,0]') as [number, number];
    this.keys.clear();
    this.isolates.forget();
    this.counters.forget();
    this.#pending = new Aggregate();
    this.#nextBatch = merged + 1;
    this.#nextSeq = lastSeq + 1;
    const newest = this.#sql.exec<{ no: number; end: number }>(
      'SELECT no, first + rows AS end FROM batches ORDER BY no DESC LIMIT 1',
    );
    for (const { no, end } of newest) {
      this.#nextBatch = Math.max(this.#nextBatch, no + 1);
      this.#nextSeq = Math.max(this.#nextSeq, end);
    }
    for (const row of this.#sql.exec<UnmergedBatch>(
      `SELECT isolate, ranges, numbered, announced, heard_at AS heardAt, hashes, counts, counters
       FROM batches WHERE no > ? ORDER BY no`,
      merged,
    )) {
      const ranges = JSON.parse(row.ranges) as PackedBatch['ranges'];
      this.#count({ ...row, ranges, hashes: new Uint32Array(row.hashes) });
    }
    this.#captchas = new HotCaptchas(this.#sql, merged, (change) => this.#countChange(change));
  }
}

/** The fields of a batch that are counted. */
type CountedBatch = IsolateBatch & Pick<PackedBatch, 'counts' | 'counters'>;

interface UnmergedBatch extends Record<string, SqlStorageValue> {
  isolate: string;
  ranges: string;
  numbered: number;
  announced: number;
  heardAt: number;
  hashes: ArrayBuffer;
  counts: string;
  counters: string;
}

/** With `sign` -1 the captcha is subtracted. */
export function addCaptcha(aggregate: Aggregate, record: CaptchaRecord, sign: 1 | -1): void {
  aggregate.add(captchaTerms(record), record.timestamp, captchaStatuses.indexOf(record.status), sign);
}
