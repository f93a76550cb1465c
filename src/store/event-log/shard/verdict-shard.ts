/**
 * VerdictShard: the Durable Object of one shard of the log. It appends rows, seals old ones to R2, keeps the counts,
 * and plans reads. The Worker opens row groups, so that reading old data does not delay appends. Tables:
 * docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import { ERASED_KEPT_MS, ErasedSessions, eraseHot, eraseSessionRows } from './erase-session.ts';
import type { CaptchaEvent } from '../captcha-record.ts';
import { liveCounts, trafficSeries } from './captcha-counts.ts';
import { scanCaptchas } from './captcha-scan.ts';
import type { StoredDimension } from '../count-dimensions.ts';
import { SEGMENT_ROWS } from './batch-tables.ts';
import { HotRows } from './hot-rows.ts';
import { planRead } from './verdict-read-plan.ts';
import { dropExpired } from './drop-expired.ts';
import { eraseLog, logEraseAt, markLogRetired } from './erase-log.ts';
import { RollupReader } from './rollup-reader.ts';
import { beginRebuild, endRebuild, forgetErasures, isRebuilding, noteErasure, rebuildSegments } from './rebuild.ts';
import type {
  AppendCounts,
  CaptchaScan,
  CaptchaScanStep,
  EdgeSums,
  LargestValues,
  LiveCounts,
  LiveWindow,
  ReadPlan,
  PlanRequest,
  Point,
  RebuiltSegments,
  ShardRpc,
  ShardSettings,
  ShardStatistics,
  ShardTail,
  TailRequest,
  TrafficWindow,
  ValueSeries,
  ValueTotal,
} from '../shard-rpc.ts';
import type { BatchAnswer, PackedBatch } from '../packed-batch.ts';
import { openObject } from '../../object-schema.ts';
import { readMeta, shardSchema, writeMeta } from './schema.ts';
import { CAPTCHA_EARLY_SEAL_AGE_MS, Sealer } from './sealing.ts';
import { tailRows } from './hot-query.ts';

/** Unsealed rows at which sealing starts: a filter without an index scans this many in about 20 ms. */
const HOT_ROWS_MAX = 40_000;
/** The same for captchas: an audit search tests unsealed rows one by one, sealed ones by column. */
const HOT_CAPTCHAS_MAX = 10_000;
const CAPTCHA_SEGMENT_ROWS = 10_000;
/**
 * Sealing starts at this many bytes too: visitors choose how long their paths and user agents are, and how many captchas
 * they ask for. A search reads them all, in about 200 ms.
 */
const HOT_BYTES_MAX = 56 * 1024 * 1024;
/**
 * While nothing can be sealed, as when R2 is down, unsealed rows pile up in the database. At this many times the rows or
 * bytes at which sealing starts the object takes no more, and what edges send waits with them and in the queue.
 */
const HOT_BYTES_TIMES_MAX = 1.5;
const HOT_TIMES_MAX = 8;
const HOT_CAPTCHA_TIMES_MAX = 20;
/** Most rows may still be too young to seal, so sealing is tried once a second and not at every append. */
const SEAL_DELAY_MS = 1000;
/** Rows of a quiet log are sealed by age, so that they leave the more expensive storage too. */
const SEAL_AFTER_MS = 24 * 3_600_000;
/** How often a quiet shard runs its maintenance. */
const MAINTENANCE_INTERVAL_MS = 3_600_000;
/** R2 failed: retry after this pause, so that the shard catches up without overloading R2. */
const RETRY_AFTER_MS = 30_000;

interface ShardBounds {
  /** Unsealed rows at which sealing starts, and at which the shard takes no more. */
  hotRowsMax: number;
  hotBytesMax: number;
  unsealedMax: number;
  segmentRows: number;
}

export class VerdictShard extends DurableObject<ServiceEnv> implements ShardRpc {
  readonly #storage: DurableObjectStorage;
  readonly #name: string;
  #hot: HotRows;
  #reader: RollupReader;
  #erased: ErasedSessions;
  #working: Promise<unknown> = Promise.resolve();
  #alarmAt: number | null = null;
  /** As it is stored; `null`: not read yet. */
  #retentionDays: number | null = null;
  #bounds: ShardBounds;

  constructor(ctx: DurableObjectState, env: ServiceEnv) {
    super(ctx, env);
    this.#storage = ctx.storage;
    openObject(ctx, env, shardSchema);
    this.#name = rememberedName(ctx);
    this.#hot = new HotRows(ctx.storage);
    this.#reader = new RollupReader(this.#hot);
    this.#erased = new ErasedSessions(this.#storage.sql);
    this.#bounds = this.#readBounds();
  }

  async append(batches: PackedBatch[], settings: ShardSettings): Promise<BatchAnswer[]> {
    this.#refuseWhenFull();
    const answers = this.#hot.append(batches);
    for (const jti of this.#erased.among(batches)) eraseHot(this.#storage.sql, this.#hot, jti);
    return this.#appended(answers, settings);
  }

  async appendCaptchas(events: CaptchaEvent[], settings: ShardSettings): Promise<AppendCounts> {
    this.#refuseWhenFull();
    return this.#appended(this.#hot.mergeCaptchas(events), settings);
  }

  #keepSettings({ retentionDays }: ShardSettings): void {
    if (this.#retentionDays === retentionDays) return;
    const known = readMeta(this.#storage.sql, 'retention_days');
    if (known !== String(retentionDays)) writeMeta(this.#storage.sql, 'retention_days', String(retentionDays));
    this.#retentionDays = retentionDays;
  }

  async #appended<T>(answer: T, settings: ShardSettings): Promise<T> {
    this.#keepSettings(settings);
    await this.#wake(Date.now() + (this.#isOver() ? SEAL_DELAY_MS : MAINTENANCE_INTERVAL_MS));
    return answer;
  }

  async count(batchId: string, counters: Record<string, number>): Promise<void> {
    this.#hot.counters.addOnce(this.#storage, batchId, counters, Date.now());
  }

  async edgeSums(): Promise<EdgeSums> {
    const room = {
      unsealed: this.#hot.size,
      unsealedMax: this.#unsealedMax(),
      databaseBytes: this.#storage.sql.databaseSize,
    };
    return { ...this.#hot.edgeSums(), room };
  }

  async plan(request: PlanRequest): Promise<ReadPlan> {
    return planRead(this.#storage.sql, this.#hot.keys, request);
  }

  async tailRows(request: TailRequest): Promise<ShardTail> {
    return tailRows(this.#storage.sql, this.#hot, request);
  }

  async scanCaptchas(scan: CaptchaScan): Promise<CaptchaScanStep> {
    return scanCaptchas(this.#storage.sql, this.#hot, scan);
  }

  async values(
    dimension: StoredDimension,
    from: number,
    to: number,
    outcomes: number[] | null,
    limit: number,
    excludeInternal = false,
  ): Promise<LargestValues> {
    return this.#reader.values(dimension, from, to, outcomes, limit, excludeInternal);
  }

  async totals(dimension: StoredDimension, values: (string | null)[], from: number, to: number): Promise<ValueTotal[]> {
    return this.#reader.totals(dimension, values, from, to);
  }

  async series(
    dimension: StoredDimension,
    values: (string | null)[],
    from: number,
    to: number,
    bucketMinutes: number,
    outcomes: number[] | null,
    excludeInternal = false,
  ): Promise<ValueSeries> {
    return this.#reader.series(dimension, values, from, to, bucketMinutes, outcomes, excludeInternal);
  }

  async liveCaptchas(siteKey: string, window: LiveWindow): Promise<LiveCounts> {
    return liveCounts(this.#storage.sql, this.#hot, siteKey, window);
  }

  async captchaTraffic(siteKeys: readonly string[] | null, window: TrafficWindow): Promise<Point[][]> {
    return trafficSeries(this.#reader, siteKeys, window);
  }

  async erase(jti: string): Promise<number> {
    if (this.#name.startsWith('telemetry/')) {
      const nowMs = Date.now();
      this.#erased.add(jti, nowMs);
      await this.#wake(nowMs + ERASED_KEPT_MS);
    }
    return this.#exclusively(() => this.#erase(jti));
  }

  async #erase(jti: string): Promise<number> {
    if (isRebuilding(this.#storage.sql)) noteErasure(this.#storage.sql, jti);
    return eraseSessionRows(this.#storage, this.#hot, this.env.SEGMENTS, this.#name, jti);
  }

  async beginRebuild(settings: ShardSettings): Promise<void> {
    this.#keepSettings(settings);
    await this.#exclusively(async () => beginRebuild(this.#storage.sql, this.#hot, Date.now()));
  }

  async rebuild(objects: string[]): Promise<RebuiltSegments> {
    const { SEGMENTS } = this.env;
    const rebuilt = await this.#exclusively(() =>
      rebuildSegments(this.#storage, this.#hot, SEGMENTS, this.#name, objects),
    );
    await this.#wake(Date.now() + MAINTENANCE_INTERVAL_MS);
    return rebuilt;
  }

  async endRebuild(): Promise<void> {
    await this.#exclusively(async () => {
      for (const jti of endRebuild(this.#storage, this.#hot)) await this.#erase(jti);
      forgetErasures(this.#storage.sql);
    });
  }

  async retire(nowMs: number): Promise<void> {
    if (this.#holdsAnything()) await this.#wake(markLogRetired(this.#storage.sql, nowMs));
  }

  async statistics(): Promise<ShardStatistics> {
    const { sql } = this.#storage;
    const sealed = sql
      .exec<{ segments: number; rows: number; bytes: number }>(
        `SELECT COUNT(*) AS segments, COALESCE(SUM(rows), 0) AS rows, COALESCE(SUM(bytes), 0) AS bytes
         FROM segments WHERE state = 'sealed'`,
      )
      .one();
    return {
      hotRows: this.#hot.size,
      sealedRows: sealed.rows,
      segments: sealed.segments,
      sealedBytes: sealed.bytes,
      databaseBytes: sql.databaseSize,
      memoryBytes: this.#hot.memoryBytes,
    };
  }

  async tune(bounds: { hotRowsMax: number; segmentRows: number; hotBytesMax?: number }): Promise<void> {
    if (bounds.hotBytesMax) writeMeta(this.#storage.sql, 'hot_bytes_max', String(bounds.hotBytesMax));
    writeMeta(this.#storage.sql, 'hot_rows_max', String(bounds.hotRowsMax));
    writeMeta(this.#storage.sql, 'segment_rows', String(bounds.segmentRows));
    this.#bounds = this.#readBounds();
  }

  async seal(): Promise<number> {
    await this.#exclusively(() => this.#sealOne());
    return this.#hot.size;
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const nowMs = Date.now();
    let next = nowMs + MAINTENANCE_INTERVAL_MS;
    const eraseAt = logEraseAt(this.#storage.sql);
    try {
      if (eraseAt !== null && eraseAt <= nowMs) return await this.#exclusively(() => this.#eraseEverything());
      while (this.#isFull(nowMs) || this.#hasOldRows(nowMs)) {
        const before = this.#hot.size;
        await this.#exclusively(() => this.#sealOne());
        if (this.#hot.size >= before) break;
      }
      this.#erased.drop(nowMs);
      await this.#exclusively(() => dropExpired(this.#storage, this.#hot, this.env.SEGMENTS, nowMs));
    } catch (error) {
      console.error(
        JSON.stringify({ event: 'verdict-shard-maintenance-failed', shard: this.#name, message: String(error) }),
      );
      next = nowMs + RETRY_AFTER_MS;
    }
    if (this.#isOver()) next = Math.min(next, nowMs + RETRY_AFTER_MS);
    if (eraseAt !== null) next = Math.min(next, Math.max(eraseAt, nowMs + RETRY_AFTER_MS));
    // An empty log sets no alarm until the next write.
    if (next !== nowMs + MAINTENANCE_INTERVAL_MS || this.#holdsAnything()) await this.#wake(next);
  }

  async #eraseEverything(): Promise<void> {
    await eraseLog(this.#storage, this.env.SEGMENTS, this.#name);
    this.#hot = new HotRows(this.#storage);
    this.#reader = new RollupReader(this.#hot);
    this.#erased = new ErasedSessions(this.#storage.sql);
    this.#bounds = this.#readBounds();
    this.#retentionDays = null;
  }

  async #sealOne(): Promise<void> {
    await this.#sealer().sealOne(this.#bounds.segmentRows, Date.now());
  }

  #sealer(): Sealer {
    const captchaAgeMs = this.#isHeavy() ? CAPTCHA_EARLY_SEAL_AGE_MS : undefined;
    return new Sealer(this.#storage.sql, this.#hot, this.env.SEGMENTS, this.#name, captchaAgeMs);
  }

  /** Runs sealing, expiring and erasing one after another, because they rewrite the same rows and objects. */
  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#working.catch(() => undefined).then(work);
    this.#working = mine;
    return mine;
  }

  #readBounds(): ShardBounds {
    const isOfCaptchas = this.#name.startsWith('captcha/');
    const tuned = (key: string, otherwise: number) => Number(readMeta(this.#storage.sql, key) ?? otherwise);
    const hotRowsMax = tuned('hot_rows_max', isOfCaptchas ? HOT_CAPTCHAS_MAX : HOT_ROWS_MAX);
    return {
      hotRowsMax,
      hotBytesMax: tuned('hot_bytes_max', HOT_BYTES_MAX),
      unsealedMax: hotRowsMax * (isOfCaptchas ? HOT_CAPTCHA_TIMES_MAX : HOT_TIMES_MAX),
      segmentRows: tuned('segment_rows', isOfCaptchas ? CAPTCHA_SEGMENT_ROWS : SEGMENT_ROWS),
    };
  }

  #refuseWhenFull(): void {
    if (this.#hot.size < this.#unsealedMax()) return;
    throw new Error(`${this.#name} holds ${this.#hot.size} unsealed rows and takes no more until some are sealed`);
  }

  /** Rows of the size that they have now. */
  #unsealedMax(): number {
    const { size, bytes } = this.#hot;
    const { unsealedMax, hotBytesMax } = this.#bounds;
    // Without rows, what counts is room that the columns keep for the next ones.
    if (size === 0 || bytes === 0) return unsealedMax;
    return Math.min(unsealedMax, Math.ceil((size * hotBytesMax * HOT_BYTES_TIMES_MAX) / bytes));
  }

  #isHeavy(): boolean {
    return this.#hot.bytes >= this.#bounds.hotBytesMax;
  }

  #isOver(): boolean {
    return this.#hot.size >= this.#bounds.hotRowsMax || this.#isHeavy();
  }

  #isFull(nowMs: number): boolean {
    if (this.#isHeavy()) return true;
    return this.#isOver() && this.#sealer().hasFullSegment(this.#bounds.segmentRows, nowMs);
  }

  #hasOldRows(nowMs: number): boolean {
    return this.#hot.holdsOlderThan(nowMs - SEAL_AFTER_MS);
  }

  #holdsAnything(): boolean {
    if (this.#hot.size > 0) return true;
    const { held } = this.#storage.sql
      .exec<{ held: number }>(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE state <> 'expired') OR EXISTS (SELECT 1 FROM erased_sessions)
           OR EXISTS (SELECT 1 FROM isolates)
           OR EXISTS (SELECT 1 FROM sealed_captchas) OR EXISTS (SELECT 1 FROM rollups) AS held`,
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

/** Stored, because an alarm may start the object without its name, and sealed objects are named by it. */
function rememberedName(ctx: DurableObjectState): string {
  const { sql } = ctx.storage;
  const known = readMeta(sql, 'name');
  if (known !== null) return known;
  const name = ctx.id.name ?? ctx.id.toString();
  writeMeta(sql, 'name', name);
  return name;
}
