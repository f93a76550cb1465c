/**
 * Rows that are not sealed yet, and the counts that follow from them. Appending is one transaction:
 * rows go in unless their id is known, here or in a sealed segment. The rollups of a row exist from
 * the moment it does: merged buckets speak for rows up to the watermark, `pending` for the rest.
 */
import { Aggregate } from './rollup-aggregate.ts';
import { IsolateCounts } from './edge-counters.ts';
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

/** Bounds the memory of `pending` and the time of its rebuild: about 100 ms of parsing. */
const PENDING_ROWS_MAX = 10_000;

export class HotRows {
  readonly rollups: RollupStore;
  readonly keys = new HotKeys();
  /** Of the rows that `pending` counts. */
  isolates = new IsolateCounts();
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #pending = new Aggregate();
  #mergedSeq: number;
  #nextSeq = 1;
  /** Nothing newer than this was ever sealed; only what is not newer is looked up among sealed ids. */
  #sealedThrough: number;
  /** The same of the moments in their ids: a second record with a sealed id may bear another time. */
  #sealedIdsThrough: number;
  /** Made when the first search asks for it. */
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
    for (const row of inserted) {
      addRow(this.#pending, row, 1);
      this.isolates.add(row.isolate, row.isolateSeq, row.timestamp);
    }
    if (this.#pending.rows >= PENDING_ROWS_MAX) this.mergePending();
    return { ...counts, accepted: inserted.length };
  }

  /** Memory follows from the table: after a failed transaction it is made from it again. */
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
   * Captcha events: each is merged into its record, which counts anew as what it has become. A row
   * that changes takes a new `seq`, so the watermark still separates merged counts from pending ones.
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
    if (this.#pending.rows >= PENDING_ROWS_MAX) this.mergePending();
    return counts;
  }

  /** `null`: nothing new, or too late: the record is sealed. */
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

  /** `null`: inserted. Otherwise the id was known, with this body or with another. */
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

  /** The key is looked up before; the constraint keeps the promise should memory ever be wrong. */
  #put(row: LogRow): void {
    const seq = this.#nextSeq++;
    this.#sql.exec(
      `INSERT INTO verdicts (seq, id, ts, jti, ip, asn, outcome, source, device, path, fired, kept, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ts, id) DO NOTHING`,
      seq,
      row.id,
      row.timestamp,
      row.jti,
      row.ip,
      row.asn,
      row.outcome,
      row.source,
      row.device,
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

  /** Moves what is counted in memory into the rollup tables, and the watermark with it. */
  mergePending(alsoInTransaction?: () => void): void {
    this.#transaction(() => {
      this.rollups.mergeAggregate(this.#pending);
      this.isolates.write(this.#sql);
      writeMeta(this.#sql, 'merged_seq', String(this.lastSeq));
      alsoInTransaction?.();
    });
    this.#mergedSeq = this.lastSeq;
    this.#pending = new Aggregate();
    this.isolates = new IsolateCounts();
  }

  /** Criteria of the captchas in the table. */
  captchaColumns(): HotColumns {
    if (this.#captchas === null || this.#captchas.isWorn) {
      this.#captchas = new HotColumns();
      for (const { body } of this.#sql.exec<{ body: string }>('SELECT body FROM verdicts')) {
        this.#captchas.set(JSON.parse(body) as CaptchaRecord);
      }
    }
    return this.#captchas;
  }

  /** Forgets every row that `gone` says is no longer in the table. */
  forget(gone: (key: HotKey) => boolean): void {
    this.keys.forget((key) => {
      const isGone = gone(key);
      if (isGone) this.#captchas?.delete(key.id);
      return isGone;
    });
  }

  /** To be called inside the transaction that seals these rows, whose timestamps end here. */
  raiseSealedThrough(timestamp: number, rows: readonly RowKey[]): void {
    this.#sealedThrough = Math.max(this.#sealedThrough, timestamp);
    this.#sealedIdsThrough = rows.reduce((newest, { id }) => Math.max(newest, idMoment(id)), this.#sealedIdsThrough);
    writeMeta(this.#sql, 'sealed_through', String(this.#sealedThrough));
    writeMeta(this.#sql, 'sealed_ids_through', String(this.#sealedIdsThrough));
  }

  /** Memory follows from the table: keys of every row, counts of those behind the watermark. */
  #rebuild(): void {
    this.keys.forget(() => true);
    this.#captchas = null;
    this.#pending = new Aggregate();
    this.isolates = new IsolateCounts();
    this.#nextSeq = this.#mergedSeq + 1;
    for (const row of this.#sql.exec<RebuiltRow>(
      `SELECT seq, id, ts AS timestamp, jti, ip, asn, outcome, source, device, path, fired, kept,
         CASE WHEN seq > ? THEN body END AS body FROM verdicts`,
      this.#mergedSeq,
    )) {
      this.keys.set({ ...row, kept: row.kept === 1 }, row.seq);
      this.#nextSeq = Math.max(this.#nextSeq, row.seq + 1);
      if (row.body === null) continue;
      const record = logRecord(row.body);
      this.#pending.add(record, row.timestamp, row.outcome);
      if (record.edge) this.isolates.add(record.edge.isolate, record.edge.seq, row.timestamp);
    }
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
  path: string;
  fired: number;
  kept: number;
  body: string | null;
}

interface CaptchaChange {
  before: LogRow | null;
  after: LogRow;
  /** `after`, as what it is. */
  record: CaptchaRecord;
  oldSeq: number;
}

function addRow(aggregate: Aggregate, row: LogRow, sign: 1 | -1): void {
  aggregate.add(logRecord(row.body), row.timestamp, row.outcome, sign);
}
