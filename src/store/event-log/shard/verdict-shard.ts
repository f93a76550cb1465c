/**
 * VerdictShard: one shard of the log (design 7). It appends, seals old rows to R2, keeps what was
 * counted, and plans reads; the Worker opens sealed blocks, so that reading old data never stands in
 * the way of appending. Described in docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import { eraseSessionRows } from './erase-session.ts';
import type { CaptchaEvent } from '../captcha-record.ts';
import { liveCounts } from './captcha-live-counts.ts';
import { scanCaptchas } from './captcha-scan.ts';
import { trafficSeries } from './captcha-traffic.ts';
import type { StoredDimension } from '../count-dimensions.ts';
import { HotRows } from './hot-rows.ts';
import { addCounters, readCounters } from './edge-counters.ts';
import { planRead } from './verdict-read-plan.ts';
import { dropExpired } from './drop-expired.ts';
import { eraseLog, logEraseAt, markLogRetired } from './erase-log.ts';
import { RollupReader } from './rollup-reader.ts';
import type {
  AppendCounts,
  CaptchaScan,
  CaptchaScanStep,
  IsolateGap,
  LargestValues,
  LiveCounts,
  LiveWindow,
  Plan,
  PlanRequest,
  Point,
  ShardRpc,
  ShardSettings,
  ShardStatistics,
  TelemetryReport,
  TrafficWindow,
  ValueSeries,
} from '../shard-rpc.ts';
import type { LogRow } from '../log-row.ts';
import { createShardTables, readMeta, writeMeta } from './schema.ts';
import { commitSegment, hasFullSegment, openSegment, writeSegment } from './segments.ts';
import { appendTelemetry, readTelemetry } from './session-telemetry.ts';

/** Unsealed rows that start sealing: what an unindexed filter can scan in about 20 ms. */
const HOT_ROWS_MAX = 40_000;
/** Captchas: an audit search looks at unsealed rows one by one, at sealed ones by the column. */
const HOT_CAPTCHAS_MAX = 10_000;
const CAPTCHA_SEGMENT_ROWS = 10_000;
/** Sealing may find that most rows can still change: it looks once a second, not at every append. */
const SEAL_DELAY_MS = 1000;
/** Rows of one segment: 2 MB in R2, 15 MB in memory while it is made. */
const SEGMENT_ROWS = 20_000;
/** A quiet log is sealed by age, so that its rows leave the dearer storage all the same. */
const SEAL_AFTER_MS = 24 * 3_600_000;
/** How often a quiet shard looks after itself. */
const CARE_INTERVAL_MS = 3_600_000;
/** R2 was unreachable: soon enough to catch up, late enough not to hammer. */
const RETRY_AFTER_MS = 30_000;

export class VerdictShard extends DurableObject<ServiceEnv> implements ShardRpc {
  readonly #storage: DurableObjectStorage;
  readonly #name: string;
  #hot: HotRows;
  #reader: RollupReader;
  #working: Promise<unknown> = Promise.resolve();
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: ServiceEnv) {
    super(ctx, env);
    this.#storage = ctx.storage;
    createShardTables(ctx.storage.sql);
    this.#name = rememberedName(ctx);
    this.#hot = new HotRows(ctx.storage);
    this.#reader = new RollupReader(this.#hot);
  }

  /** Idempotent by id. Rows are checked already; at most 500. */
  async append(rows: LogRow[], settings: ShardSettings): Promise<AppendCounts> {
    return this.#appended(this.#hot.append(rows), settings);
  }

  /** Idempotent and in any order. */
  async appendCaptchas(events: CaptchaEvent[], settings: ShardSettings): Promise<AppendCounts> {
    return this.#appended(this.#hot.mergeCaptchas(events), settings);
  }

  async #appended(counts: AppendCounts, settings: ShardSettings): Promise<AppendCounts> {
    const known = readMeta(this.#storage.sql, 'retention_days');
    if (known !== String(settings.retentionDays)) {
      writeMeta(this.#storage.sql, 'retention_days', String(settings.retentionDays));
    }
    const isOver = this.#hot.keys.size >= this.#hotRowsMax();
    await this.#wake(Date.now() + (isOver ? SEAL_DELAY_MS : CARE_INTERVAL_MS));
    return counts;
  }

  /** Counters of a batch, once per batch id. */
  async count(batchId: string, counters: Record<string, number>): Promise<void> {
    addCounters(this.#storage, batchId, counters, Date.now());
  }

  async counters(): Promise<Record<string, number>> {
    return readCounters(this.#storage.sql);
  }

  async gaps(): Promise<IsolateGap[]> {
    return this.#hot.isolates.gaps(this.#storage.sql);
  }

  async plan(request: PlanRequest): Promise<Plan> {
    return planRead(this.#storage.sql, this.#hot.keys, request);
  }

  /** One bounded step of an audit search. */
  async scanCaptchas(scan: CaptchaScan): Promise<CaptchaScanStep> {
    return scanCaptchas(this.#storage.sql, this.#hot, scan);
  }

  /** The `limit` largest values and the count of the rest. Minutes since the epoch. */
  async values(
    dimension: StoredDimension,
    from: number,
    to: number,
    outcomes: number[] | null,
    limit: number,
  ): Promise<LargestValues> {
    return this.#reader.values(dimension, from, to, outcomes, limit);
  }

  async series(
    dimension: StoredDimension,
    values: (string | null)[],
    from: number,
    to: number,
    bucketMinutes: number,
    outcomes: number[] | null,
  ): Promise<ValueSeries> {
    return this.#reader.series(dimension, values, from, to, bucketMinutes, outcomes);
  }

  /** Captchas of one site per bucket and per address. */
  async liveCaptchas(siteKey: string, window: LiveWindow): Promise<LiveCounts> {
    return liveCounts(this.#storage.sql, this.#hot, siteKey, window);
  }

  /** Of these sites, or with `null` of all; one series for each type, verified and not. */
  async captchaTraffic(siteKeys: readonly string[] | null, window: TrafficWindow): Promise<Point[][]> {
    return trafficSeries(this.#reader, siteKeys, window);
  }

  async appendTelemetry(report: TelemetryReport): Promise<void> {
    appendTelemetry(this.#storage.sql, report);
    await this.#wake(Date.now() + CARE_INTERVAL_MS);
  }

  async telemetry(jti: string): Promise<TelemetryReport[]> {
    return readTelemetry(this.#storage.sql, jti);
  }

  /** Removes every row and report of one session, sealed ones included; returns how many rows. */
  async erase(jti: string): Promise<number> {
    return this.#exclusively(() => eraseSessionRows(this.#storage, this.#hot, this.env.SEGMENTS, this.#name, jti));
  }

  /** The instance is deleted: everything goes, a minute from now. */
  async retire(nowMs: number): Promise<void> {
    if (this.#holdsAnything()) await this.#wake(markLogRetired(this.#storage.sql, nowMs));
  }

  /** What this shard holds, for operators and benchmarks. */
  async statistics(): Promise<ShardStatistics> {
    const { sql } = this.#storage;
    const sealed = sql
      .exec<{ segments: number; rows: number; bytes: number }>(
        `SELECT COUNT(*) AS segments, COALESCE(SUM(rows), 0) AS rows, COALESCE(SUM(bytes), 0) AS bytes
         FROM segments WHERE state = 'sealed'`,
      )
      .one();
    return {
      hotRows: this.#hot.keys.size,
      sealedRows: sealed.rows,
      segments: sealed.segments,
      sealedBytes: sealed.bytes,
      databaseBytes: sql.databaseSize,
    };
  }

  /** Smaller bounds than the defaults, for a shard that should seal sooner. */
  async tune(bounds: { hotRowsMax: number; segmentRows: number }): Promise<void> {
    writeMeta(this.#storage.sql, 'hot_rows_max', String(bounds.hotRowsMax));
    writeMeta(this.#storage.sql, 'segment_rows', String(bounds.segmentRows));
  }

  /** Seals one segment now, whatever the bounds say; returns the rows left unsealed. */
  async seal(): Promise<number> {
    await this.#exclusively(() => this.#sealOne());
    return this.#hot.keys.size;
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const nowMs = Date.now();
    let next = nowMs + CARE_INTERVAL_MS;
    const eraseAt = logEraseAt(this.#storage.sql);
    try {
      if (eraseAt !== null && eraseAt <= nowMs) return await this.#exclusively(() => this.#eraseEverything());
      while (this.#isFull(nowMs) || this.#hasOldRows(nowMs)) {
        const before = this.#hot.keys.size;
        await this.#exclusively(() => this.#sealOne());
        if (this.#hot.keys.size >= before) break;
      }
      await this.#exclusively(() => dropExpired(this.#storage, this.#hot, this.env.SEGMENTS, nowMs));
    } catch (error) {
      console.error(JSON.stringify({ event: 'verdict-shard-care-failed', shard: this.#name, message: String(error) }));
      next = nowMs + RETRY_AFTER_MS;
    }
    if (this.#hot.keys.size >= this.#hotRowsMax()) next = Math.min(next, nowMs + RETRY_AFTER_MS);
    if (eraseAt !== null) next = Math.min(next, Math.max(eraseAt, nowMs + RETRY_AFTER_MS));
    // A log that holds nothing any more sleeps until somebody writes to it.
    if (next !== nowMs + CARE_INTERVAL_MS || this.#holdsAnything()) await this.#wake(next);
  }

  async #eraseEverything(): Promise<void> {
    await eraseLog(this.#storage, this.env.SEGMENTS, this.#name);
    this.#hot = new HotRows(this.#storage);
    this.#reader = new RollupReader(this.#hot);
  }

  async #sealOne(): Promise<void> {
    const { sql } = this.#storage;
    const segment = openSegment(this.#storage, this.#hot, this.#name, this.#segmentRows(), Date.now());
    if (!segment) return;
    let built = await writeSegment(sql, this.env.SEGMENTS, segment);
    while (!commitSegment(sql, this.#hot, segment, built)) {
      built = await writeSegment(sql, this.env.SEGMENTS, segment);
    }
  }

  /** Sealing, expiring and erasing rewrite the same things and go one after another. */
  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#working.catch(() => undefined).then(work);
    this.#working = mine;
    return mine;
  }

  #hotRowsMax(): number {
    const max = this.#name.startsWith('captcha/') ? HOT_CAPTCHAS_MAX : HOT_ROWS_MAX;
    return Number(readMeta(this.#storage.sql, 'hot_rows_max') ?? max);
  }

  #isFull(nowMs: number): boolean {
    if (this.#hot.keys.size < this.#hotRowsMax()) return false;
    return hasFullSegment(this.#storage.sql, this.#name, this.#segmentRows(), nowMs);
  }

  #segmentRows(): number {
    const rows = this.#name.startsWith('captcha/') ? CAPTCHA_SEGMENT_ROWS : SEGMENT_ROWS;
    return Number(readMeta(this.#storage.sql, 'segment_rows') ?? rows);
  }

  #hasOldRows(nowMs: number): boolean {
    const oldest = this.#storage.sql.exec<{ ts: number | null }>('SELECT MIN(ts) AS ts FROM verdicts').one().ts;
    return oldest !== null && oldest < nowMs - SEAL_AFTER_MS;
  }

  #holdsAnything(): boolean {
    if (this.#hot.keys.size > 0) return true;
    const { held } = this.#storage.sql
      .exec<{ held: number }>(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE state <> 'expired') OR EXISTS (SELECT 1 FROM telemetry)
           OR EXISTS (SELECT 1 FROM sealed_ids) OR EXISTS (SELECT 1 FROM rollups) AS held`,
      )
      .one();
    return held === 1;
  }

  /** Sets the alarm unless an earlier one is set. */
  async #wake(at: number): Promise<void> {
    this.#alarmAt ??= await this.#storage.getAlarm();
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.#storage.setAlarm(at);
  }
}

/** An alarm may wake the object without its name; sealed objects are keyed by it. */
function rememberedName(ctx: DurableObjectState): string {
  const { sql } = ctx.storage;
  const known = readMeta(sql, 'name');
  if (known !== null) return known;
  const name = ctx.id.name ?? ctx.id.toString();
  writeMeta(sql, 'name', name);
  return name;
}
