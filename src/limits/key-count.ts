/**
 * What was counted under one key, in the arithmetic of its limit: two fixed windows, the exact sliding window, or a bucket.
 * Uses are added whether there is room or not, so that the caller decides what a refused one adds. Pure.
 */
import { drained, emptyBucket, filled } from './bucket.ts';
import { type Meter, type SlidingLog, takeSliding } from './sliding-log.ts';
import { oneFits, rolled, type TwoWindows, windowNumber } from './two-windows.ts';

export interface KeyCount {
  /** Whether one more use is above the limit. */
  isFull: (meter: Meter, nowMs: number) => boolean;
  add: (meter: Meter, nowMs: number) => void;
}

/** `windows`: of a fast sliding limit. `log`: of an exact one. */
export type Counting = 'windows' | 'log' | 'bucket';

export function newKeyCount(counting: Counting): KeyCount {
  if (counting === 'windows') return new WindowCount();
  return counting === 'log' ? new LogCount() : new BucketCount();
}

class WindowCount implements KeyCount {
  #sums: TwoWindows | null = null;

  isFull(meter: Meter, nowMs: number): boolean {
    return !oneFits(this.#asOf(meter, nowMs), meter, nowMs);
  }

  add(meter: Meter, nowMs: number): void {
    const sums = this.#asOf(meter, nowMs);
    this.#sums = { ...sums, now: sums.now + 1 };
  }

  #asOf({ windowMs }: Meter, nowMs: number): TwoWindows {
    const sums = this.#sums ?? { window: windowNumber(nowMs, windowMs), before: 0, now: 0 };
    return rolled(sums, nowMs, windowMs);
  }
}

class LogCount implements KeyCount {
  #log: SlidingLog = [];

  isFull(meter: Meter, nowMs: number): boolean {
    return takeSliding(this.#log, meter, 0, nowMs).remaining === 0;
  }

  add({ windowMs }: Meter, nowMs: number): void {
    this.#log = takeSliding(this.#log, { count: Number.MAX_SAFE_INTEGER, windowMs }, 1, nowMs).log;
  }
}

class BucketCount implements KeyCount {
  #bucket = emptyBucket;

  isFull(meter: Meter, nowMs: number): boolean {
    return drained(this.#bucket, meter, nowMs).level > (meter.count - 1) * meter.windowMs;
  }

  add(meter: Meter, nowMs: number): void {
    this.#bucket = filled(this.#bucket, meter, 1, nowMs);
  }
}
