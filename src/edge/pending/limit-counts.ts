/**
 * Counts per key in a sliding window, over all isolates and without waiting for any of them. An isolate counts for
 * itself, reports behind its responses, and learns the sums from the service's `LimitLedger`. Until it has an answer it
 * lets no more through than a share of the limit, so all isolates together exceed a limit by one share each at most.
 * While the ledger does not answer, the isolate's own counts go on alone.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { LimitCounter, LimitSums } from '../../contract/edge/limits.ts';
import { LIMIT_COUNTERS_MAX } from '../../contract/edge/limits.ts';

/** About 2 MB. A sender of more keys pushes out what was counted least lately; the ledger still knows it. */
const KEYS_MAX = 20_000;
/** Counters that wait for a report. Further ones are counted here and not reported. */
const UNSENT_MAX = 4096;
const REPORT_INTERVAL_MS = 100;
/** After a report without an answer. */
const RETRY_AFTER_MS = 2000;
/** Reports of one run. What is left waits for the next request. */
const ROUNDS_MAX = 20;
/** A run that has not ended by then belonged to a request whose context is gone. */
const RUN_LOST_AFTER_MS = 30_000;
/** The share of a limit that one isolate may use before the ledger has heard of it. */
const UNCONFIRMED_SHARE = 6;

export interface LimitPorts {
  /** `null`: no answer. Absent where there is no ledger. */
  report: ((windowMs: number, counters: readonly LimitCounter[]) => Promise<LimitSums | null>) | null;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
  count: (name: string) => void;
}

interface Entry {
  window: number;
  /** Of the window before. */
  before: number;
  /** Of this window, by all isolates, as of the last answer. */
  known: number;
  /** Counted here since then. */
  unconfirmed: number;
}

export class LimitCounts {
  readonly #windowMs: number;
  readonly #ports: LimitPorts;
  readonly #entries = new BoundedMap<Entry>(KEYS_MAX);
  #unsent = new Map<string, LimitCounter>();
  #isAnswered = true;
  #runStartedAtMs = -Infinity;
  #nextReportAtMs = 0;

  constructor(windowMs: number, ports: LimitPorts) {
    this.#windowMs = windowMs;
    this.#ports = ports;
  }

  /** Whether one more use stays within the limit. Counts nothing. */
  hasRoom(key: string, limit: number, nowMs: number): boolean {
    const entry = this.#entry(key, nowMs);
    const leash = this.#ports.report !== null && this.#isAnswered ? Math.ceil(limit / UNCONFIRMED_SHARE) : Infinity;
    return entry.unconfirmed < leash && this.#used(entry, nowMs) + 1 <= limit;
  }

  take(key: string, nowMs: number): void {
    const entry = this.#entry(key, nowMs);
    entry.unconfirmed++;
    const { window } = entry;
    const waiting = this.#unsent.get(`${window} ${key}`);
    if (waiting) waiting.count++;
    else if (this.#unsent.size < UNSENT_MAX) this.#unsent.set(`${window} ${key}`, { key, window, count: 1 });
    else this.#ports.count('limits_unreported');
  }

  /** Sends what was counted, behind the response. One run at a time; a run also takes what is counted meanwhile. */
  report(nowMs: number, waitUntil: (work: Promise<unknown>) => void): void {
    const { report } = this.#ports;
    if (report === null || this.#unsent.size === 0 || nowMs - this.#runStartedAtMs < RUN_LOST_AFTER_MS) return;
    this.#runStartedAtMs = nowMs;
    waitUntil(this.#run(report));
  }

  async #run(report: NonNullable<LimitPorts['report']>): Promise<void> {
    try {
      await this.#rounds(report);
    } finally {
      this.#runStartedAtMs = -Infinity;
    }
  }

  async #rounds(report: NonNullable<LimitPorts['report']>): Promise<void> {
    const { now, sleep } = this.#ports;
    for (let round = 0; round < ROUNDS_MAX && this.#unsent.size > 0; round++) {
      const waitMs = this.#nextReportAtMs - now();
      if (waitMs > REPORT_INTERVAL_MS) break;
      if (waitMs > 0) await sleep(waitMs);
      const counters = this.#nextBatch();
      const sums = await report(this.#windowMs, counters);
      this.#isAnswered = sums !== null;
      this.#nextReportAtMs = now() + (this.#isAnswered ? REPORT_INTERVAL_MS : RETRY_AFTER_MS);
      if (sums === null) this.#keepForLater(counters);
      else counters.forEach((counter, index) => this.#confirm(counter, sums[index] ?? [0, 0]));
    }
  }

  #nextBatch(): LimitCounter[] {
    const counters = [...this.#unsent.values()].slice(0, LIMIT_COUNTERS_MAX);
    for (const { key, window } of counters) this.#unsent.delete(`${window} ${key}`);
    return counters;
  }

  /** If the ledger has counted them after all, they count twice: the stricter of two errors. */
  #keepForLater(counters: readonly LimitCounter[]): void {
    this.#ports.count('limit_report_failures');
    for (const { key, window, count } of counters) {
      const waiting = this.#unsent.get(`${window} ${key}`);
      if (waiting) waiting.count += count;
      else if (this.#unsent.size < UNSENT_MAX) this.#unsent.set(`${window} ${key}`, { key, window, count });
    }
  }

  #confirm({ key, window, count }: LimitCounter, [before, known]: LimitSums[number]): void {
    const entry = this.#entries.get(key);
    if (entry?.window === window) {
      entry.before = before;
      entry.known = known;
      entry.unconfirmed = Math.max(0, entry.unconfirmed - count);
    } else if (entry?.window === window + 1) {
      entry.before = Math.max(entry.before, known);
    }
  }

  #entry(key: string, nowMs: number): Entry {
    const window = Math.floor(nowMs / this.#windowMs);
    const known = this.#entries.get(key);
    if (known?.window === window) return known;
    const before = known?.window === window - 1 ? known.known + known.unconfirmed : 0;
    const entry = { window, before, known: 0, unconfirmed: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  /** The window before counts by the part of it that lies within the last `windowMs`. */
  #used({ before, known, unconfirmed }: Entry, nowMs: number): number {
    const passed = (nowMs % this.#windowMs) / this.#windowMs;
    return before * (1 - passed) + known + unconfirmed;
  }
}
