/**
 * Counts per key over all isolates, in sliding windows and buckets, without waiting for any of them. An isolate counts
 * for itself, reports behind its responses, and learns the sums from the service's `LimitLedger`. Until it has an answer
 * it lets no more through than a share of the limit, so all isolates together exceed a limit by one share each at most.
 * While the ledger does not answer, the isolate's own counts go on alone.
 */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { SharedRun, type WaitUntil } from '../../bytes/polled.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { LIMIT_COUNTERS_MAX, type LimitCounter, type LimitSums } from '../../contract/edge/limits.ts';
import { drained, emptyBucket, filled, type Bucket, untilDrained } from '../../limits/bucket.ts';
import { hasRoomFor } from '../../limits/limit-keys.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import { ok } from '../../result.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import { type Asked, UNREADABLE } from '../feed/upstream.ts';
import { oneFits, rolled, type TwoWindows, untilOneFits, windowNumber } from '../../limits/two-windows.ts';

/** About 2 MB. A sender of more keys pushes out what was counted least lately; the ledger still knows it. */
const KEYS_MAX = 20_000;
/** Counters that wait for a report. Further ones are counted here, and reported with a later use of their key. */
const UNSENT_MAX = 4096;
const REPORT_INTERVAL_MS = 100;
/** After a report without an answer. */
const RETRY_AFTER_MS = 2000;
/** Reports of one run. What is left waits for the next request. */
const ROUNDS_MAX = 20;
/** The request that held a place is gone: origins have 100 s to respond. */
const HOLD_LOST_AFTER_MS = 120_000;
/** A run that has not ended by then belonged to a request whose context is gone. */
const RUN_LOST_AFTER_MS = 30_000;

export interface LimitPorts {
  /** `null` where there is no ledger. */
  report: ((counters: readonly LimitCounter[]) => Promise<Asked<LimitSums>>) | null;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
  count: (name: string) => void;
}

/** What is known of a key, counted here since the last answer or not. */
interface Entry {
  windows: TwoWindows;
  bucket: Bucket;
  /** Counted here since the last answer. */
  unconfirmed: number;
  /** Counted here, and in no report for want of room. */
  unreported: number;
  /** Places of requests that may still count. */
  held: number;
  heldAtMs: number;
}

export class LimitCounts {
  readonly #ports: LimitPorts;
  readonly #entries = new BoundedMap<Entry>(KEYS_MAX);
  #unsent = new Map<string, LimitCounter>();
  #isAnswered = true;
  readonly #runs = new SharedRun(RUN_LOST_AFTER_MS);
  #nextReportAtMs = 0;

  constructor(ports: LimitPorts) {
    this.#ports = ports;
  }

  /** Milliseconds until one more use stays within the limit; 0: it does now. Counts nothing. */
  waitMs(key: string, meter: CountedMeter, nowMs: number): number {
    const { windows, bucket, unconfirmed, held } = this.#entry(key, meter, nowMs);
    const { count, windowMs } = meter;
    const fits = (places: number): boolean =>
      meter.isBucket
        ? bucket.level <= (count - 1 - places) * windowMs
        : oneFits({ ...windows, now: windows.now + places }, meter, nowMs);
    if (!fits(0)) {
      return Math.max(1, meter.isBucket ? untilDrained(bucket.level, meter) : untilOneFits(windows, meter, nowMs));
    }
    const isOnLeash = this.#ports.report !== null && this.#isAnswered;
    return !fits(held) || (isOnLeash && unconfirmed + held >= meter.leash) ? REPORT_INTERVAL_MS : 0;
  }

  /** A request that may still count holds a place until it is known; -1 gives it back. */
  hold(key: string, meter: CountedMeter, places: 1 | -1, nowMs: number): void {
    const entry = this.#entry(key, meter, nowMs);
    entry.held = Math.max(0, entry.held + places);
    if (places > 0) entry.heldAtMs = nowMs;
  }

  /** Uses of a key in the window before and in this one, as far as this isolate knows. */
  usesOf(key: string, meter: CountedMeter, nowMs: number): TwoWindows {
    return this.#entry(key, meter, nowMs).windows;
  }

  take(key: string, meter: CountedMeter, nowMs: number, taken = 1): void {
    const { windowMs, isBucket, count } = meter;
    const entry = this.#entry(key, meter, nowMs);
    const { window } = entry.windows;
    if (isBucket) entry.bucket = filled(entry.bucket, meter, taken, nowMs);
    else entry.windows = { ...entry.windows, now: entry.windows.now + taken };
    entry.unreported += taken;
    if (meter.reported && (entry.windows.now < meter.reported.from || entry.unreported < meter.reported.every)) return;
    const name = isBucket ? key : `${window} ${key}`;
    const waiting = this.#unsent.get(name);
    if (!waiting && !hasRoomFor(key, this.#unsent.size, UNSENT_MAX)) return this.#ports.count('limits_unreported');
    const uses = entry.unreported;
    if (waiting) waiting.count += uses;
    else {
      this.#unsent.set(
        name,
        isBucket ? { key, window: 0, count: uses, windowMs, drains: count } : { key, window, count: uses, windowMs },
      );
    }
    entry.unconfirmed += uses;
    entry.unreported = 0;
    return undefined;
  }

  /** Sends what was counted, behind the response. One run at a time; a run also takes what is counted meanwhile. */
  report(nowMs: number, waitUntil: WaitUntil): void {
    const { report } = this.#ports;
    if (report === null || this.#unsent.size === 0) return;
    const run = this.#runs.start(nowMs, () => this.#rounds(report));
    if (run) waitUntil(run);
  }

  async #rounds(report: NonNullable<LimitPorts['report']>): Promise<void> {
    const { now, sleep } = this.#ports;
    for (let round = 0; round < ROUNDS_MAX && this.#unsent.size > 0; round++) {
      const waitMs = this.#nextReportAtMs - now();
      if (waitMs > REPORT_INTERVAL_MS) break;
      if (waitMs > 0) await sleep(waitMs);
      const batch = [...this.#unsent].slice(0, LIMIT_COUNTERS_MAX);
      for (const [name] of batch) this.#unsent.delete(name);
      const sums = await report(batch.map(([, counter]) => counter));
      const isRefused = !sums.ok && sums.error.kind === 'refused' && sums.error.status === 400;
      this.#isAnswered = sums.ok || isRefused;
      this.#nextReportAtMs = now() + (this.#isAnswered ? REPORT_INTERVAL_MS : RETRY_AFTER_MS);
      if (!sums.ok) this.#failed(batch, isRefused);
      else batch.forEach(([, counter], index) => this.#confirm(counter, sums.value[index] ?? [0, 0]));
    }
  }

  /**
   * If the ledger has counted them after all, they count twice: the stricter of two errors. What the service refuses would
   * stop every later report: it is dropped, and still counts here.
   */
  #failed(batch: readonly [name: string, counter: LimitCounter][], isRefused: boolean): void {
    this.#ports.count('limit_report_failures');
    for (const [name, counter] of batch) {
      const { key, count } = counter;
      const waiting = this.#unsent.get(name);
      const entry = this.#entries.get(key);
      if (isRefused || (!waiting && !hasRoomFor(key, this.#unsent.size, UNSENT_MAX))) {
        if (entry) entry.unconfirmed = Math.max(0, entry.unconfirmed - count);
      } else if (waiting) waiting.count += count;
      else this.#unsent.set(name, counter);
    }
  }

  #confirm({ key, window, count, windowMs = 0, drains }: LimitCounter, [before, known]: LimitSums[number]): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const left = Math.max(0, entry.unconfirmed - count);
    if (drains !== undefined) {
      entry.bucket = { level: known + (left + entry.unreported) * windowMs, atMs: this.#ports.now() };
    } else if (entry.windows.window === window) {
      entry.windows = { window, before: Math.max(entry.windows.before, before), now: known + left + entry.unreported };
    } else {
      if (entry.windows.window !== window + 1) return;
      entry.windows = { ...entry.windows, before: Math.max(entry.windows.before, known) };
      return;
    }
    entry.unconfirmed = left;
  }

  /** As of now. */
  #entry(key: string, meter: CountedMeter, nowMs: number): Entry {
    const { windowMs } = meter;
    const known = this.#entries.get(key);
    if (known === undefined) {
      const windows = { window: windowNumber(nowMs, windowMs), before: 0, now: 0 };
      const entry = { windows, bucket: emptyBucket, unconfirmed: 0, unreported: 0, held: 0, heldAtMs: 0 };
      this.#entries.set(key, entry);
      return entry;
    }
    if (known.held > 0 && Math.abs(nowMs - known.heldAtMs) > HOLD_LOST_AFTER_MS) known.held = 0;
    if (meter.isBucket) {
      known.bucket = drained(known.bucket, meter, nowMs);
      if (known.bucket.level === 0) known.unconfirmed = known.unreported = 0;
      return known;
    }
    const windows = rolled(known.windows, nowMs, windowMs);
    if (windows !== known.windows) known.unconfirmed = known.unreported = 0;
    known.windows = windows;
    return known;
  }
}

/** Behind a response, so nobody waits for it. */
const REPORT_TIMEOUT_MS = 3000;
/** Some numbers for each counter. */
const REPORT_ANSWER_MAX_BYTES = 8192;
const uses = z.int().check(z.nonnegative());
const reportAnswer = z.object({ sums: z.array(z.tuple([uses, uses])) });

/** Reports to the service's ledger. The sums are those of the counters, in their order. */
export function reportLimits(
  service: Pick<ServiceClient, 'ask'>,
  counters: readonly LimitCounter[],
): Promise<Asked<LimitSums>> {
  const read = (body: Uint8Array) => {
    const answer = reportAnswer.safeParse(parseJson(body));
    return answer.success && answer.data.sums.length === counters.length ? ok(answer.data.sums) : UNREADABLE;
  };
  const call = {
    path: '/edge/v1/limits/report',
    timeoutMs: REPORT_TIMEOUT_MS,
    maxBytes: REPORT_ANSWER_MAX_BYTES,
    read,
  };
  return service.ask<LimitSums>(call, { windowMs: counters[0]?.windowMs, counters });
}
