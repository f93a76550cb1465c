/**
 * Captchas that are not sealed yet. A batch of events is stored as one row, as it came; the records that they change live
 * merged in memory until the next merge of the counts, which moves them into pages and deletes the batches. A restart
 * replays the batches. Merging is commutative and idempotent, so a batch that comes twice or late changes nothing more.
 */
import { captchaId, mergeCaptcha, type CaptchaEvent, type CaptchaRecord } from '../captcha-record.ts';
import type { StoredRow } from '../log-row.ts';
import type { AppendCounts } from '../shard-rpc.ts';
import { CaptchaPages } from './captcha-pages.ts';
import { emptyTable } from './batch-tables.ts';
import { CAPTCHA_BATCH_COLUMNS } from './schema.ts';
import { SealedCaptchas, type SealedCaptcha } from './sealed-captchas.ts';

/** A row in SQLite holds 2 MB, and a character takes three bytes at most. */
const EVENTS_MAX_CHARS = 600_000;
/** When events are merged: the size of them and of the records that they changed. A restart reads them again. */
const FRESH_MAX_BYTES = 8 * 1024 * 1024;
/** What a changed record takes of the memory beside its body. */
const FRESH_ROW_BYTES = 200;

export interface CaptchaChange {
  before: CaptchaRecord | null;
  after: CaptchaRecord;
}

export class HotCaptchas {
  readonly sealed: SealedCaptchas;
  readonly #sql: SqlStorage;
  readonly #pages: CaptchaPages;
  /** Bodies that changed since the last merge, by id. */
  readonly #fresh = new Map<string, string>();
  /** How many of these are in no page. */
  #added = 0;
  #freshBytes = 0;
  #nextBatch = 1;

  /** Replays the batches; `changed` is told what those after the batch `mergedBatch` change. */
  constructor(sql: SqlStorage, mergedBatch: number, changed: (change: CaptchaChange) => void) {
    this.#sql = sql;
    this.sealed = new SealedCaptchas(sql);
    this.#pages = new CaptchaPages(sql);
    this.#nextBatch = mergedBatch + 1;
    const unmerged: CaptchaEvent[] = [];
    for (const { no, events } of sql.exec<{ no: number; events: string }>(
      'SELECT no, events FROM captcha_batches ORDER BY no',
    )) {
      this.#nextBatch = Math.max(this.#nextBatch, no + 1);
      const batch = JSON.parse(events) as CaptchaEvent[];
      // Version 1 kept the batches that were merged: more than the memory holds at once.
      if (no <= mergedBatch) for (const event of batch) this.#apply(event);
      else {
        this.#freshBytes += events.length;
        for (const event of batch) unmerged.push(event);
      }
    }
    // In the order of the pages, so that each is read once.
    for (const event of unmerged.sort((a, b) => a.timestamp - b.timestamp)) {
      const change = this.#apply(event);
      if (change) changed(change);
    }
  }

  get size(): number {
    return this.#pages.rows + this.#added;
  }

  /** Size of all captchas. A visitor chooses how long a record is, within bounds. */
  get bytes(): number {
    return this.#pages.bytes + this.#freshBytes;
  }

  /** About how much of it is in memory. */
  get memoryBytes(): number {
    return this.#freshBytes + this.#pages.openBytes;
  }

  get needsMerge(): boolean {
    return this.#freshBytes >= FRESH_MAX_BYTES;
  }

  get lastBatch(): number {
    return this.#nextBatch - 1;
  }

  /** By falling time and id, or by rising. `until` exclusive. */
  between(since: number, until: number, newestFirst = false): Generator<StoredRow> {
    return this.#pages.between(since, until, this.#fresh, newestFirst);
  }

  all(): Generator<StoredRow> {
    return this.between(0, Number.MAX_SAFE_INTEGER);
  }

  bodyOf(id: string): string | undefined {
    return this.#fresh.get(id) ?? this.#pages.get(id);
  }

  /** Runs inside the caller's transaction. Events that change nothing are not stored. */
  append(events: readonly CaptchaEvent[], changed: (change: CaptchaChange) => void): AppendCounts {
    const counts: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
    let batch: string[] = [];
    let length = 0;
    const store = (): void => {
      if (batch.length === 0) return;
      this.#sql.exec('INSERT INTO captcha_batches (no, events) VALUES (?, ?)', this.#nextBatch++, `[${batch.join()}]`);
      this.#freshBytes += length;
      batch = [];
      length = 0;
    };
    for (const event of events) {
      const change = this.#apply(event);
      if (change === null) {
        counts.duplicates++;
        continue;
      }
      counts.accepted++;
      changed(change);
      const text = JSON.stringify(event);
      batch.push(text);
      length += text.length;
      if (length > EVENTS_MAX_CHARS) store();
    }
    store();
    return counts;
  }

  /** `null`: the event adds nothing, or its captcha is sealed or erased. */
  #apply(event: CaptchaEvent): CaptchaChange | null {
    const id = captchaId(event.jti, event.timestamp);
    const known = this.bodyOf(id);
    if (known === undefined && this.sealed.has(event)) return null;
    const before = known === undefined ? null : (JSON.parse(known) as CaptchaRecord);
    const after = mergeCaptcha(before, event);
    const body = JSON.stringify(after);
    if (body === known) return null;
    if (known === undefined) this.#added++;
    const fresh = this.#fresh.get(id);
    this.#freshBytes += body.length + (fresh === undefined ? FRESH_ROW_BYTES : -fresh.length);
    this.#fresh.set(id, body);
    return { before, after };
  }

  /** Runs inside the transaction that merges the counts. `forgetFresh` follows when it has succeeded. */
  write(): void {
    if (this.#freshBytes === 0) return;
    this.#pages.put(this.#fresh);
    emptyTable(this.#sql, 'captcha_batches', CAPTCHA_BATCH_COLUMNS);
  }

  forgetFresh(): void {
    this.#fresh.clear();
    this.#added = 0;
    this.#freshBytes = 0;
  }

  /** Captchas that are sealed or erased. Runs inside the transaction that does it, after `write`. */
  remove(captchas: readonly (SealedCaptcha & { id: string })[]): void {
    this.sealed.record(captchas);
    this.#pages.put(new Map(captchas.map(({ id }) => [id, null])));
  }
}
