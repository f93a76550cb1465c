/**
 * Rows that are not sealed yet, and their counts. An append is one transaction and stores a row unless its id is known,
 * unsealed or sealed. A row is counted from the moment it is stored: rollup tables hold the counts of rows up to the
 * watermark, `pending` the counts of later rows.
 */
import { Aggregate } from './rollup-aggregate.ts';
import { ArrivalCounts } from './edge-counters.ts';
import { HotKeys } from './hot-keys.ts';
import type { HotKey } from './hot-keys.ts';
import { captchaRow, logRecord } from '../log-record.ts';
import { HotColumns } from '../columns/captcha-hot-columns.ts';
import { mergeCaptcha } from '../captcha-record.ts';
import type { CaptchaEvent, CaptchaRecord } from '../captcha-record.ts';
import { RollupStore } from './rollup-store.ts';
import type { LogRow, RowKey } from '../log-row.ts';
import { readMeta, writeMeta } from './schema.ts';
import { idMoment, sealedBodyHash } from './sealed-ids.ts';
import type { AppendCounts } from '../shard-rpc.ts';
import { textHash } from '../../text-hash.ts';

/**
 * Counts are merged when a segment is sealed, because each merge writes every bucket that it touches. These bounds hold
 * while nothing can be sealed, and against visitors who send a new path and user agent each time: about 20 MB.
 */
const PENDING_ROWS_MAX = 50_000;
const PENDING_VALUES_MAX = 60_000;

export class HotRows {
  readonly rollups: RollupStore;
  readonly keys = new HotKeys();
  /** Of the rows that `pending` counts. */
  arrivals = new ArrivalCounts();
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #pending = new Aggregate();
  #mergedSeq: number;
  #nextSeq = 1;
  /** No newer row was ever sealed, so only rows up to this time are looked up among the sealed ids. */
  #sealedThrough: number;
  /** The same for the times inside ids: another record with a sealed id may have another timestamp. */
  #sealedIdsThrough: number;
  /** Built by the first search. */
  #captchas: HotColumns | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.rollups = new RollupStore(storage.sql);
    this.#mergedSeq = Number(readMeta(this.#sql, 'merged_seq') ?? 0);
    this.#sealedThrough = Number(readMeta(this.#sql, 'sealed_through') ?? -1);
    this.#sealedIdsThrough = Number(readMeta(this.#sql, 'sealed_ids_through') ?? -1);
    this.#rebuild();
  }

  get pending(): Aggregate {
    return this.#pending;
  }

  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  append(rows: readonly LogRow[]): AppendCounts {
    const inserted: LogRow[] = [];
    const counts: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
    this.#transaction(() => {
      for (const row of rows) {
        const known = this.#insert(row);
        if (known === null) inserted.push(row);
        else {
          counts.duplicates++;
          if (known === 'other-body') counts.conflicting++;
        }
      }
    });
    for (const row of inserted) this.#count(row);
    this.#boundPending();
    return { ...counts, accepted: inserted.length };
  }

  #boundPending(): void {
    const { rows, values } = this.#pending;
    if (rows >= PENDING_ROWS_MAX || values >= PENDING_VALUES_MAX) this.mergePending();
  }

  /** Rebuilds the memory from the table after a failed transaction. */
  #transaction(work: () => void): void {
    try {
      this.#storage.transactionSync(work);
    } catch (error) {
      this.rollups.forgetCache();
      this.#rebuild();
      throw error;
    }
  }

  /**
   * Merges each captcha event into its record and counts the record anew. A changed row gets a new `seq`, so that the
   * watermark still separates merged counts from pending ones.
   */
  mergeCaptchas(events: readonly CaptchaEvent[]): AppendCounts {
    const counts: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
    const changes: CaptchaChange[] = [];
    this.#transaction(() => {
      const away = new Aggregate();
      for (const event of events) {
        const change = this.#mergeOne(event);
        if (change === null) {
          counts.duplicates++;
          continue;
        }
        counts.accepted++;
        changes.push(change);
        if (change.before && change.oldSeq <= this.#mergedSeq) addRow(away, change.before, -1);
      }
      if (away.rows > 0) this.rollups.mergeAggregate(away);
    });
    for (const { before, after, record, oldSeq } of changes) {
      this.#captchas?.set(record);
      if (before && oldSeq > this.#mergedSeq) addRow(this.#pending, before, -1);
      addRow(this.#pending, after, 1);
    }
    this.#boundPending();
    return counts;
  }

  /** `null`: the event adds nothing, or it is too late because the record is sealed. */
  #mergeOne(event: CaptchaEvent): CaptchaChange | null {
    const made = mergeCaptcha(null, event);
    const fresh = captchaRow(made);
    if (fresh.timestamp <= this.#sealedThrough && sealedBodyHash(this.#sql, fresh.id) !== null) return null;
    const key = this.keys.get(fresh.id);
    const body = key === undefined ? null : this.#bodyOf(key);
    if (key === undefined || body === null) {
      this.#put(fresh);
      return { before: null, after: fresh, record: made, oldSeq: 0 };
    }
    const before = JSON.parse(body) as CaptchaRecord;
    const record = mergeCaptcha(before, event);
    const after = captchaRow(record);
    if (after.body === body) return null;
    this.#sql.exec('DELETE FROM verdicts WHERE ts = ? AND id = ?', key.timestamp, key.id);
    this.#put(after);
    return { before: captchaRow(before), after, record, oldSeq: key.seq };
  }

  /** `null`: inserted. Otherwise the id was known, with this body or another one. */
  #insert(row: LogRow): null | 'same-body' | 'other-body' {
    if (row.timestamp <= this.#sealedThrough || idMoment(row.id) <= this.#sealedIdsThrough) {
      const hash = sealedBodyHash(this.#sql, row.id);
      if (hash !== null) return hash === textHash(row.body) ? 'same-body' : 'other-body';
    }
    const known = this.keys.get(row.id);
    if (known) return this.#bodyOf(known) === row.body ? 'same-body' : 'other-body';
    this.#put(row);
    return null;
  }

  /** Callers have looked up the key. The constraint protects the table if the memory were ever wrong. */
  #put(row: LogRow): void {
    const seq = this.#nextSeq++;
    this.#sql.exec(
      `INSERT INTO verdicts (seq, id, ts, jti, ip, asn, outcome, source, device, bot, proof, path, fired,
         kept, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ts, id) DO NOTHING`,
      seq,
      row.id,
      row.timestamp,
      row.jti,
      row.ip,
      row.asn,
      row.outcome,
      row.source,
      row.device,
      row.bot,
      row.proof,
      row.path,
      row.fired,
      row.kept ? 1 : 0,
      row.body,
    );
    this.keys.set(row, seq);
  }

  #bodyOf(key: HotKey): string | null {
    const [row] = this.#sql.exec<{ body: string }>(
      'SELECT body FROM verdicts WHERE ts = ? AND id = ?',
      key.timestamp,
      key.id,
    );
    return row?.body ?? null;
  }

  /** Moves the pending counts into the rollup tables, and the watermark with them. */
  mergePending(alsoInTransaction?: () => void): void {
    this.#transaction(() => {
      this.rollups.mergeAggregate(this.#pending);
      this.arrivals.write(this.#sql);
      writeMeta(this.#sql, 'merged_seq', String(this.lastSeq));
      alsoInTransaction?.();
    });
    this.#mergedSeq = this.lastSeq;
    this.#pending = new Aggregate();
    this.arrivals = new ArrivalCounts();
  }

  /** Searchable fields of the captchas in the table. */
  captchaColumns(): HotColumns {
    if (this.#captchas === null || this.#captchas.isWorn) {
      this.#captchas = new HotColumns();
      for (const { body } of this.#sql.exec<{ body: string }>('SELECT body FROM verdicts')) {
        this.#captchas.set(JSON.parse(body) as CaptchaRecord);
      }
    }
    return this.#captchas;
  }

  /** Forgets every row for which `gone` returns `true`. */
  forget(gone: (key: HotKey) => boolean): void {
    this.keys.forget((key) => {
      const isGone = gone(key);
      if (isGone) this.#captchas?.delete(key.id);
      return isGone;
    });
  }

  /** Runs inside the transaction that seals these rows. `timestamp` is that of the newest row. */
  raiseSealedThrough(timestamp: number, rows: readonly RowKey[]): void {
    this.#sealedThrough = Math.max(this.#sealedThrough, timestamp);
    this.#sealedIdsThrough = rows.reduce((newest, { id }) => Math.max(newest, idMoment(id)), this.#sealedIdsThrough);
    writeMeta(this.#sql, 'sealed_through', String(this.#sealedThrough));
    writeMeta(this.#sql, 'sealed_ids_through', String(this.#sealedIdsThrough));
  }

  /** Builds the memory from the table: the keys of every row, the counts of rows after the watermark. */
  #rebuild(): void {
    this.keys.forget(() => true);
    this.#captchas = null;
    this.#pending = new Aggregate();
    this.arrivals = new ArrivalCounts();
    this.#nextSeq = this.#mergedSeq + 1;
    for (const row of this.#sql.exec<RebuiltRow>(
      `SELECT seq, id, ts AS timestamp, jti, ip, asn, outcome, source, device, bot, proof, path, fired, kept,
         CASE WHEN seq > ? THEN body END AS body FROM verdicts`,
      this.#mergedSeq,
    )) {
      this.keys.set({ ...row, kept: row.kept === 1 }, row.seq);
      this.#nextSeq = Math.max(this.#nextSeq, row.seq + 1);
      if (row.body !== null) this.#count({ ...row, body: row.body });
    }
  }

  /** Counts a row behind the watermark. Captchas are not numbered, and edges do not count them. */
  #count({ body, timestamp, outcome }: Pick<LogRow, 'body' | 'timestamp' | 'outcome'>): void {
    const record = logRecord(body);
    this.#pending.add(record, timestamp, outcome);
    if (record.edge) this.arrivals.add(record, record.edge);
  }
}

interface RebuiltRow extends Record<string, SqlStorageValue> {
  seq: number;
  id: string;
  timestamp: number;
  jti: string | null;
  ip: string | null;
  asn: number | null;
  outcome: number;
  source: string;
  device: string;
  bot: string | null;
  proof: string | null;
  path: string;
  fired: number;
  kept: number;
  body: string | null;
}

interface CaptchaChange {
  before: LogRow | null;
  after: LogRow;
  /** The record of `after`. */
  record: CaptchaRecord;
  oldSeq: number;
}

function addRow(aggregate: Aggregate, row: LogRow, sign: 1 | -1): void {
  aggregate.add(logRecord(row.body), row.timestamp, row.outcome, sign);
}
