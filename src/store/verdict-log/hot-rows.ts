/**
 * Rows that are not sealed yet, and the counts that follow from them. Appending is one transaction:
 * rows go in unless their id is known, here or in a sealed segment. The rollups of a row exist from
 * the moment it does: merged buckets speak for rows up to the watermark, `pending` for the rest.
 */
import { Aggregate, MINUTE_MS } from './aggregate.ts';
import { captchaRow, logRecord } from './log-record.ts';
import { mergeCaptcha } from '../captcha-log/captcha-record.ts';
import type { CaptchaEvent, CaptchaRecord } from '../captcha-log/captcha-record.ts';
import { RollupStore } from './rollup-store.ts';
import type { LogRow } from './row.ts';
import { readMeta, writeMeta } from './schema.ts';
import { sealedBodyHash } from './sealed-ids.ts';
import { textHash } from './text-hash.ts';

/** Bounds the memory of `pending` and the time of its rebuild: about 100 ms of parsing. */
const PENDING_ROWS_MAX = 10_000;

export interface AppendCounts {
  accepted: number;
  duplicates: number;
  /** Of the duplicates, those whose body differed from the first one's. The first one stands. */
  conflicting: number;
}

export class HotRows {
  readonly rollups: RollupStore;
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #pending = new Aggregate();
  #mergedSeq: number;
  #nextSeq: number;
  #count = 0;
  /** Nothing newer than this was ever sealed; only what is not newer is looked up among sealed ids. */
  #sealedThrough: number;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.rollups = new RollupStore(storage.sql);
    this.#mergedSeq = Number(readMeta(this.#sql, 'merged_seq') ?? 0);
    this.#sealedThrough = Number(readMeta(this.#sql, 'sealed_through') ?? -1);
    const { last } = this.#sql.exec<{ last: number | null }>('SELECT MAX(seq) AS last FROM verdicts').one();
    this.#nextSeq = Math.max(last ?? 0, this.#mergedSeq) + 1;
    this.recount();
    this.#rebuildPending();
  }

  get pending(): Aggregate {
    return this.#pending;
  }

  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  /** Rows that are not sealed. */
  get count(): number {
    return this.#count;
  }

  /** To be called after rows were taken out. */
  recount(): void {
    this.#count = this.#sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM verdicts').one().n;
  }

  append(rows: readonly LogRow[]): AppendCounts {
    const inserted: LogRow[] = [];
    let duplicates = 0;
    let conflicting = 0;
    let seq = this.#nextSeq;
    this.#storage.transactionSync(() => {
      for (const row of rows) {
        const known = this.#insert(seq, row);
        if (known === null) {
          inserted.push(row);
          seq++;
        } else {
          duplicates++;
          if (known === 'other-body') conflicting++;
        }
      }
      this.#raiseIsolates(inserted);
      this.#rememberHidden(inserted);
    });
    this.#nextSeq = seq;
    this.#count += inserted.length;
    for (const row of inserted) addRow(this.#pending, row, 1);
    if (this.#pending.rows >= PENDING_ROWS_MAX) this.mergePending();
    return { accepted: inserted.length, duplicates, conflicting };
  }

  /**
   * Captcha events: each is merged into its record, which counts anew as what it has become. A row
   * that changes takes a new `seq`, so the watermark still separates merged counts from pending ones.
   */
  mergeCaptchas(events: readonly CaptchaEvent[]): AppendCounts {
    const counts: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
    const changes: { before: CaptchaRecord | null; after: LogRow; oldSeq: number }[] = [];
    let seq = this.#nextSeq;
    try {
      this.#storage.transactionSync(() => {
        const away = new Aggregate();
        for (const event of events) {
          const change = this.#mergeOne(seq, event);
          if (change === null) {
            counts.duplicates++;
            continue;
          }
          seq++;
          counts.accepted++;
          changes.push(change);
          if (change.before && change.oldSeq <= this.#mergedSeq) addRow(away, captchaRow(change.before), -1);
        }
        if (away.rows > 0) this.rollups.mergeAggregate(away);
      });
    } catch (error) {
      this.rollups.forgetCache();
      throw error;
    }
    this.#nextSeq = seq;
    for (const { before, after, oldSeq } of changes) {
      if (!before) this.#count++;
      if (before && oldSeq > this.#mergedSeq) addRow(this.#pending, captchaRow(before), -1);
      addRow(this.#pending, after, 1);
    }
    if (this.#pending.rows >= PENDING_ROWS_MAX) this.mergePending();
    return counts;
  }

  /** `null`: nothing new, or too late: the record is sealed. */
  #mergeOne(seq: number, event: CaptchaEvent): { before: CaptchaRecord | null; after: LogRow; oldSeq: number } | null {
    const fresh = mergeCaptcha(null, event);
    if (fresh.timestamp <= this.#sealedThrough && sealedBodyHash(this.#sql, fresh.id) !== null) return null;
    const [known] = this.#sql.exec<{ seq: number; body: string }>(
      'SELECT seq, body FROM verdicts WHERE id = ?',
      fresh.id,
    );
    if (!known) {
      const after = captchaRow(fresh);
      this.#insert(seq, after);
      return { before: null, after, oldSeq: 0 };
    }
    const before = JSON.parse(known.body) as CaptchaRecord;
    const after = captchaRow(mergeCaptcha(before, event));
    if (after.body === known.body) return null;
    this.#sql.exec('DELETE FROM verdicts WHERE seq = ?', known.seq);
    this.#insert(seq, after);
    return { before, after, oldSeq: known.seq };
  }

  /** `null`: inserted. Otherwise the id was known, with this body or with another. */
  #insert(seq: number, row: LogRow): null | 'same-body' | 'other-body' {
    if (row.timestamp <= this.#sealedThrough) {
      const hash = sealedBodyHash(this.#sql, row.id);
      if (hash !== null) return hash === textHash(row.body) ? 'same-body' : 'other-body';
    }
    const { rowsWritten } = this.#sql.exec(
      `INSERT INTO verdicts (seq, id, ts, jti, ip, asn, outcome, source, device, path, fired, kept, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
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
    if (rowsWritten > 0) return null;
    const [existing] = this.#sql.exec<{ body: string }>('SELECT body FROM verdicts WHERE id = ?', row.id);
    return existing?.body === row.body ? 'same-body' : 'other-body';
  }

  #raiseIsolates(inserted: readonly LogRow[]): void {
    const isolates = new Map<string, { numbered: number; stored: number; lastTs: number }>();
    for (const row of inserted) {
      const seen = isolates.get(row.isolate) ?? { numbered: 0, stored: 0, lastTs: 0 };
      seen.numbered = Math.max(seen.numbered, row.isolateSeq + 1);
      seen.stored++;
      seen.lastTs = Math.max(seen.lastTs, row.timestamp);
      isolates.set(row.isolate, seen);
    }
    for (const [isolate, seen] of isolates) {
      this.#sql.exec(
        `INSERT INTO isolates (isolate, numbered, stored, last_ts) VALUES (?, ?, ?, ?)
         ON CONFLICT (isolate) DO UPDATE SET numbered = MAX(numbered, excluded.numbered),
           stored = stored + excluded.stored, last_ts = MAX(last_ts, excluded.last_ts)`,
        isolate,
        seen.numbered,
        seen.stored,
        seen.lastTs,
      );
    }
  }

  /** Rows that are counted but not shown: where they are, counts cannot stand for rows. */
  #rememberHidden(inserted: readonly LogRow[]): void {
    const hidden = inserted.filter(({ kept }) => !kept).map(({ timestamp }) => Math.floor(timestamp / MINUTE_MS));
    if (hidden.length === 0) return;
    const known = readMeta(this.#sql, 'hidden_minutes');
    const minutes = known === null ? hidden : [...hidden, ...(JSON.parse(known) as number[])];
    const range = JSON.stringify([Math.min(...minutes), Math.max(...minutes)]);
    if (range !== known) writeMeta(this.#sql, 'hidden_minutes', range);
  }

  /** Moves what is counted in memory into the rollup tables, and the watermark with it. */
  mergePending(alsoInTransaction?: () => void): void {
    try {
      this.#storage.transactionSync(() => {
        this.rollups.mergeAggregate(this.#pending);
        writeMeta(this.#sql, 'merged_seq', String(this.lastSeq));
        alsoInTransaction?.();
      });
    } catch (error) {
      this.rollups.forgetCache();
      throw error;
    }
    this.#mergedSeq = this.lastSeq;
    this.#pending = new Aggregate();
  }

  /** To be called inside the transaction that seals rows up to this timestamp. */
  raiseSealedThrough(timestamp: number): void {
    this.#sealedThrough = Math.max(this.#sealedThrough, timestamp);
    writeMeta(this.#sql, 'sealed_through', String(this.#sealedThrough));
  }

  #rebuildPending(): void {
    for (const row of this.#sql.exec<{ ts: number; outcome: number; body: string }>(
      'SELECT ts, outcome, body FROM verdicts WHERE seq > ? ORDER BY seq',
      this.#mergedSeq,
    )) {
      this.#pending.add(logRecord(row.body), row.ts, row.outcome);
    }
  }
}

function addRow(aggregate: Aggregate, row: LogRow, sign: 1 | -1): void {
  aggregate.add(logRecord(row.body), row.timestamp, row.outcome, sign);
}
