/**
 * Captchas that are not sealed yet. A batch of events is stored as one row, as it came; the records live merged in
 * memory and are rebuilt by replaying the batches. Merging is commutative and idempotent, so a batch that comes twice or
 * late changes nothing more. A batch is deleted once every captcha in it is sealed or erased.
 */
import { HotColumns } from '../columns/captcha-hot-columns.ts';
import { captchaId, mergeCaptcha } from '../captcha-record.ts';
import type { CaptchaEvent, CaptchaRecord } from '../captcha-record.ts';
import type { RowKey } from '../log-row.ts';
import type { AppendCounts } from '../shard-rpc.ts';
import { SealedCaptchas } from './sealed-captchas.ts';

/** A row in SQLite holds 2 MB, and a character takes three bytes at most. */
const EVENTS_MAX_CHARS = 600_000;
/** What a captcha takes of the memory beside its body: its keys, its batches and its place in a map. */
const CAPTCHA_BYTES = 600;

export interface HotCaptcha extends RowKey {
  jti: string;
  /** JSON of the merged record: it takes a third of the memory of the record itself. */
  body: string;
  /** Batches with an event of it. */
  batches: number[];
}

export interface CaptchaChange {
  before: CaptchaRecord | null;
  after: CaptchaRecord;
}

export class HotCaptchas {
  readonly sealed: SealedCaptchas;
  readonly #sql: SqlStorage;
  /** By id. */
  readonly #captchas = new Map<string, HotCaptcha>();
  /** Batch → how many of its captchas are neither sealed nor erased. */
  readonly #open = new Map<number, number>();
  /** Built by the first search. */
  #columns: HotColumns | null = null;
  #nextBatch = 1;
  #bodyChars = 0;

  /** Replays every batch; `changed` is told what those after the batch `mergedBatch` change. */
  constructor(sql: SqlStorage, mergedBatch: number, changed: (change: CaptchaChange) => void) {
    this.#sql = sql;
    this.sealed = new SealedCaptchas(sql);
    this.#nextBatch = mergedBatch + 1;
    for (const { no, events } of sql.exec<{ no: number; events: string }>(
      'SELECT no, events FROM captcha_batches ORDER BY no',
    )) {
      this.#nextBatch = Math.max(this.#nextBatch, no + 1);
      for (const event of JSON.parse(events) as CaptchaEvent[]) {
        if (this.#isSealed(event)) continue;
        const change = this.#apply(event);
        this.#link(event, no);
        if (change && no > mergedBatch) changed(change);
      }
    }
  }

  get size(): number {
    return this.#captchas.size;
  }

  /** About what the captchas take of the memory. A visitor chooses how long a body is, within bounds. */
  get bytes(): number {
    return this.#bodyChars + this.#captchas.size * CAPTCHA_BYTES + (this.#columns?.bytes ?? 0);
  }

  get lastBatch(): number {
    return this.#nextBatch - 1;
  }

  values(): IterableIterator<HotCaptcha> {
    return this.#captchas.values();
  }

  get(id: string): HotCaptcha | undefined {
    return this.#captchas.get(id);
  }

  /** Runs inside the caller's transaction. Events that change nothing are not stored. */
  append(events: readonly CaptchaEvent[], changed: (change: CaptchaChange) => void): AppendCounts {
    const counts: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
    let batch: CaptchaEvent[] = [];
    let length = 0;
    const store = (): void => {
      if (batch.length === 0) return;
      const no = this.#nextBatch++;
      this.#sql.exec('INSERT INTO captcha_batches (no, events) VALUES (?, ?)', no, JSON.stringify(batch));
      for (const event of batch) this.#link(event, no);
      batch = [];
      length = 0;
    };
    for (const event of events) {
      const change = this.#isSealed(event) ? null : this.#apply(event);
      if (change === null) {
        counts.duplicates++;
        continue;
      }
      counts.accepted++;
      changed(change);
      batch.push(event);
      length += JSON.stringify(event).length;
      if (length > EVENTS_MAX_CHARS) store();
    }
    store();
    return counts;
  }

  /** A record in memory is neither. */
  #isSealed(event: CaptchaEvent): boolean {
    return !this.#captchas.has(idOf(event)) && this.sealed.has(event);
  }

  /** `null`: the event adds nothing. */
  #apply(event: CaptchaEvent): CaptchaChange | null {
    const known = this.#captchas.get(idOf(event));
    const before = known ? (JSON.parse(known.body) as CaptchaRecord) : null;
    const after = mergeCaptcha(before, event);
    const body = JSON.stringify(after);
    if (body === known?.body) return null;
    this.#bodyChars += body.length - (known?.body.length ?? 0);
    if (known) known.body = body;
    else {
      const { id, timestamp, jti } = after;
      this.#captchas.set(id, { id, timestamp, jti, body, batches: [] });
    }
    this.#columns?.set(after);
    return { before, after };
  }

  #link(event: CaptchaEvent, batch: number): void {
    const captcha = this.#captchas.get(idOf(event));
    if (!captcha || captcha.batches.includes(batch)) return;
    captcha.batches.push(batch);
    this.#open.set(batch, (this.#open.get(batch) ?? 0) + 1);
  }

  /** Runs inside the transaction that seals these captchas. `settle` follows when it has succeeded. */
  recordSealed(captchas: readonly HotCaptcha[]): void {
    this.sealed.record(captchas);
    for (const [batch, left] of this.#leftOf(captchas)) {
      if (left === 0) this.#sql.exec('DELETE FROM captcha_batches WHERE no = ?', batch);
    }
  }

  /** Runs inside the transaction that erases these captchas: their events leave every batch. `settle` follows. */
  recordErased(captchas: readonly HotCaptcha[]): void {
    this.sealed.record(captchas);
    const gone = new Set(captchas.map(({ jti }) => jti));
    for (const [batch, left] of this.#leftOf(captchas)) {
      if (left === 0) {
        this.#sql.exec('DELETE FROM captcha_batches WHERE no = ?', batch);
        continue;
      }
      const { events } = this.#sql
        .exec<{ events: string }>('SELECT events FROM captcha_batches WHERE no = ?', batch)
        .one();
      const rest = (JSON.parse(events) as CaptchaEvent[]).filter(({ jti }) => !gone.has(jti));
      this.#sql.exec('UPDATE captcha_batches SET events = ? WHERE no = ?', JSON.stringify(rest), batch);
    }
  }

  /** Batch → how many open captchas it has without these. */
  #leftOf(captchas: readonly HotCaptcha[]): Map<number, number> {
    const left = new Map<number, number>();
    for (const { batches } of captchas) {
      for (const batch of batches) left.set(batch, (left.get(batch) ?? this.#open.get(batch) ?? 0) - 1);
    }
    return left;
  }

  /** Forgets captchas that were sealed or erased. */
  settle(captchas: readonly HotCaptcha[]): void {
    for (const [batch, left] of this.#leftOf(captchas)) {
      if (left === 0) this.#open.delete(batch);
      else this.#open.set(batch, left);
    }
    for (const { id } of captchas) {
      this.#bodyChars -= this.#captchas.get(id)?.body.length ?? 0;
      this.#captchas.delete(id);
      this.#columns?.delete(id);
    }
  }

  /** Searchable fields of the captchas in memory. */
  columns(): HotColumns {
    if (this.#columns === null || this.#columns.isWorn) {
      this.#columns = new HotColumns();
      for (const { body } of this.#captchas.values()) this.#columns.set(JSON.parse(body) as CaptchaRecord);
    }
    return this.#columns;
  }
}

function idOf({ jti, timestamp }: CaptchaEvent): string {
  return captchaId(jti, timestamp);
}
