/**
 * Sealing: choose what is old enough, write one object per UTC day of it, then record the manifests and delete the
 * batches in one transaction. What was chosen is recorded first, so that after a crash in between the same objects are
 * written again under the same keys. Verdicts are sealed by whole batches, captchas one by one.
 */
import type { CaptchaRecord } from '../captcha-record.ts';
import { compareNewestFirst, type RowKey, type StoredRow } from '../log-row.ts';
import { countOf, type NumberRange } from '../number-ranges.ts';
import { noExtras, type SealedIsolate, type SegmentExtras } from '../parquet/segment-footer.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import type { StoredKey } from './hot-keys.ts';
import { readRows } from './hot-query.ts';
import type { HotRows } from './hot-rows.ts';
import { buildSegment, type BuiltSegment } from './segment-build.ts';
import { beginSegments, putSegment, recordManifest, segmentSource, type SealingSegment } from './segments.ts';

/** The newest rows stay, so that a live tail sees them. */
const VERDICT_SEAL_AGE_MS = 5000;
/** A captcha can change until its token expires: 30 minutes of rounds, 10 minutes of token, and some reserve. */
const CAPTCHA_SEAL_AGE_MS = 3_600_000;
/**
 * The age at which captchas are sealed while there are too many, which any visitor can bring about. Most are solved by
 * then. A sealed captcha keeps its state: what happens to it later is not in the log.
 */
export const CAPTCHA_EARLY_SEAL_AGE_MS = 120_000;
/** So many segments' rows at most are sealed as one, for the sake of dropping their table whole. */
const WHOLE_TABLE_MAX = 1.5;
const DAY_MS = 86_400_000;
/** The bound of a segment of captchas, against visitors who send long texts: it is in memory while it is written. */
const CAPTCHAS_MAX_CHARS = 16_000_000;
/** Rows whose JSON is read at once, with the batches that hold them: about 1 MB, and 30 MB against the longest texts. */
const ROWS_AT_ONCE = 1000;

/** Numbers of batches of verdicts; or the newest captcha, with all older ones. */
type Chosen = { batches: number[] } | { newest: RowKey };

interface Sealing {
  segments: SealingSegment[];
  chosen: Chosen;
}

/** What one attempt writes. */
interface SealedRows {
  /** Rows of a UTC day, oldest first. */
  ofDay: (day: number) => Iterable<StoredRow>;
  batches: number[];
  captchas: StoredRow[];
  extras: SegmentExtras;
}

export class Sealer {
  readonly #sql: SqlStorage;
  readonly #hot: HotRows;
  readonly #bucket: R2Bucket;
  readonly #shardName: string;
  readonly #captchaAgeMs: number;

  constructor(sql: SqlStorage, hot: HotRows, bucket: R2Bucket, shardName: string, captchaAgeMs = CAPTCHA_SEAL_AGE_MS) {
    this.#sql = sql;
    this.#hot = hot;
    this.#bucket = bucket;
    this.#shardName = shardName;
    this.#captchaAgeMs = captchaAgeMs;
  }

  /** Most rows of a busy captcha log can still change, so it is sealed only when a segment can be full. */
  hasFullSegment(segmentRows: number, nowMs: number): boolean {
    const ready = this.#oldBatches(nowMs).reduce((sum, { records }) => sum + records, 0);
    const old = this.#oldCaptchas(nowMs);
    let left = segmentRows - ready;
    while (left > 0 && old.next().done !== true) left--;
    return left <= 0;
  }

  /** `false`: nothing is old enough. */
  async sealOne(segmentRows: number, nowMs: number): Promise<boolean> {
    const sealing = this.#open(segmentRows, nowMs);
    if (sealing === null) return false;
    for (;;) {
      const sealed = this.#rowsOf(sealing);
      const built = await this.#write(sealing, sealed);
      if (this.#commit(sealing, sealed, built)) return true;
    }
  }

  /** What is being sealed, or what is chosen now. */
  #open(segmentRows: number, nowMs: number): Sealing | null {
    const open = this.#sql
      .exec<{ no: number; object: string; day: number; chosen: string }>(
        "SELECT no, object, min_ts AS day, chosen FROM segments WHERE state = 'sealing' ORDER BY no",
      )
      .toArray();
    if (open.length > 0) {
      const segments = open.map(({ no, object, day }) => ({ no, object, day }));
      return { segments, chosen: JSON.parse(open[0]?.chosen ?? 'null') as Chosen };
    }
    const chosen = this.#chooseBatches(segmentRows, nowMs) ?? this.#chooseCaptchas(segmentRows, nowMs);
    return chosen && this.#begin(chosen, nowMs);
  }

  #oldBatches(nowMs: number) {
    return this.#hot.batches
      .all()
      .map(([no, { records, maxTs }]) => ({ no, records, maxTs }))
      .filter(({ maxTs }) => maxTs < nowMs - VERDICT_SEAL_AGE_MS);
  }

  /** Oldest first. */
  #oldCaptchas(nowMs: number): Generator<StoredRow> {
    return this.#hot.captchas.between(0, nowMs - this.#captchaAgeMs);
  }

  /** In the order of storing: a late record does not wait for its neighbours in time. */
  #chooseBatches(segmentRows: number, nowMs: number): Chosen | null {
    const old = this.#oldBatches(nowMs);
    const together = old[0] && this.#hot.batches.together(old[0].no, segmentRows * WHOLE_TABLE_MAX);
    const whole = old.filter(({ no }) => together?.has(no));
    if (together && whole.length === together.size) return { batches: whole.map(({ no }) => no) };
    const batches: number[] = [];
    let rows = 0;
    for (const { no, records } of old) {
      if (rows >= segmentRows) break;
      batches.push(no);
      rows += records;
    }
    return batches.length === 0 ? null : { batches };
  }

  #chooseCaptchas(segmentRows: number, nowMs: number): Chosen | null {
    let newest: RowKey | null = null;
    let rows = 0;
    let length = 0;
    for (const { timestamp, id, body } of this.#oldCaptchas(nowMs)) {
      newest = { timestamp, id };
      rows++;
      length += body.length;
      if (rows >= segmentRows || length >= CAPTCHAS_MAX_CHARS) break;
    }
    return newest && { newest };
  }

  /** Records what the objects will hold, before they are written. At least one object, also of rows that are not kept. */
  #begin(chosen: Chosen, nowMs: number): Sealing {
    const rows: readonly RowKey[] =
      'batches' in chosen ? this.#keysOf(chosen.batches) : this.#captchasUpTo(chosen.newest);
    const days = new Set(rows.map(({ timestamp }) => dayOf(timestamp)));
    if (days.size === 0) days.add(dayOf(nowMs));
    const oldestFirst = [...days].sort((a, b) => a - b);
    const segments = this.#hot.transaction(() =>
      beginSegments(this.#sql, this.#shardName, oldestFirst, JSON.stringify(chosen), nowMs),
    );
    return { segments, chosen };
  }

  #keysOf(batches: readonly number[]): StoredKey[] {
    return batches.flatMap((no) =>
      this.#hot.keys.of(no).map(({ id, timestamp, batch, seq }) => ({ id, timestamp, batch, seq })),
    );
  }

  /** Oldest first. */
  #captchasUpTo(newest: RowKey): StoredRow[] {
    const upTo = [...this.#hot.captchas.between(0, newest.timestamp + 1)];
    return upTo.filter((captcha) => compareNewestFirst(captcha, newest) >= 0);
  }

  #rowsOf({ chosen, segments }: Sealing): SealedRows {
    if ('batches' in chosen) {
      const { batches } = chosen;
      const keys = this.#keysOf(batches).sort((a, b) => compareNewestFirst(b, a));
      const ofDay = (day: number) => this.#readInParts(keys.filter(({ timestamp }) => dayOf(timestamp) === day));
      return { ofDay, batches, captchas: [], extras: this.#extrasOf(batches) };
    }
    // A captcha of another day arrived since: it has no segment here, and stays for the next.
    const days = new Set(segments.map(({ day }) => day));
    const captchas = this.#captchasUpTo(chosen.newest).filter(({ timestamp }) => days.has(dayOf(timestamp)));
    const ofDay = (day: number) => captchas.filter(({ timestamp }) => dayOf(timestamp) === day);
    return { ofDay, batches: [], captchas, extras: noExtras };
  }

  /** Rows that were erased before their part is read are left out. */
  *#readInParts(keys: readonly StoredKey[]): Generator<StoredRow> {
    for (let start = 0; start < keys.length; start += ROWS_AT_ONCE) {
      yield* readRows(this.#sql, this.#hot.keys.at(keys.slice(start, start + ROWS_AT_ONCE)));
    }
  }

  /** What only the batches say. The first object of the sealing holds it. */
  #extrasOf(batches: readonly number[]): SegmentExtras {
    const unkept = new Aggregate();
    const isolates = new Map<string, SealedIsolate>();
    for (const row of this.#sql.exec<{ isolate: string; ranges: string; numbered: number; unkept: string }>(
      `SELECT isolate, ranges, numbered, unkept FROM batches WHERE no IN (SELECT value FROM json_each(?)) ORDER BY no`,
      JSON.stringify(batches),
    )) {
      const ranges = JSON.parse(row.ranges) as NumberRange[];
      const { covered, numbered } = isolates.get(row.isolate) ?? { covered: [], numbered: 0 };
      isolates.set(row.isolate, {
        isolate: row.isolate,
        numbered: Math.max(numbered, row.numbered),
        covered: [...covered, ...ranges.flat()],
      });
      if (row.unkept !== '') unkept.addPacked(row.unkept, countOf(ranges));
    }
    return { unkept: unkept.entries(), isolates: [...isolates.values()], counters: this.#hot.counters.sums() };
  }

  async #write({ segments }: Sealing, { ofDay, extras }: SealedRows): Promise<BuiltSegment[]> {
    const built: BuiltSegment[] = [];
    for (const [index, { no, object, day }] of segments.entries()) {
      const segment = await buildSegment(
        segmentSource(this.#sql, this.#shardName, no),
        ofDay(day),
        index === 0 ? extras : noExtras,
      );
      await putSegment(this.#bucket, object, segment);
      built.push(segment);
    }
    return built;
  }

  /** `false`: a captcha changed while its segment was written, so it must be written again. */
  #commit({ segments }: Sealing, { batches, captchas }: SealedRows, built: readonly BuiltSegment[]): boolean {
    if (captchas.some(({ id, body }) => this.#hot.captchas.bodyOf(id) !== body)) return false;
    this.#hot.mergePending(() => {
      for (const [index, { no, object }] of segments.entries())
        recordManifest(this.#sql, no, object, built[index] as BuiltSegment);
      for (const no of batches) this.#hot.keys.forget(no);
      this.#hot.batches.delete(batches);
      this.#hot.captchas.remove(captchas.map(({ body }) => JSON.parse(body) as CaptchaRecord));
    });
    return true;
  }
}

function dayOf(timestamp: number): number {
  return Math.floor(timestamp / DAY_MS) * DAY_MS;
}
