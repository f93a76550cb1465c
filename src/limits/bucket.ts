/**
 * A bucket: `count` uses at once, and then as many in each window, evenly. All numbers are whole, so nothing is lost by
 * rounding: a use weighs as much as the window has milliseconds, and each millisecond takes `count` from
 * the level. A million uses a day are a safe integer by far. Pure.
 */
import type { Meter, Taking } from './sliding-log.ts';

export interface Bucket {
  /** Uses in it, times the milliseconds of the window. */
  level: number;
  /** As of this time. */
  atMs: number;
}

export const emptyBucket: Bucket = { level: 0, atMs: 0 };

/** The level as of now. A clock that was set back takes nothing out, and the next millisecond does again. */
export function drained({ level, atMs }: Bucket, { count }: Meter, nowMs: number): Bucket {
  const passedMs = Math.max(0, nowMs - atMs);
  return { level: Math.max(0, level - passedMs * count), atMs: nowMs };
}

/** Puts uses in, whether there is room or not. */
export function filled(bucket: Bucket, meter: Meter, uses: number, nowMs: number): Bucket {
  const { level, atMs } = drained(bucket, meter, nowMs);
  return { level: Math.min(level + uses * meter.windowMs, Number.MAX_SAFE_INTEGER), atMs };
}

export function takeBucket(bucket: Bucket, meter: Meter, asked: number, nowMs: number): Taking & { bucket: Bucket } {
  const { count, windowMs } = meter;
  const now = drained(bucket, meter, nowMs);
  const room = Math.max(0, Math.floor((count * windowMs - now.level) / windowMs));
  const granted = Math.min(asked, room);
  const level = now.level + granted * windowMs;
  const remaining = room - granted;
  return {
    bucket: { level, atMs: nowMs },
    granted,
    remaining,
    retryAfterMs: remaining > 0 ? 0 : untilDrained(level, meter),
  };
}

/** Milliseconds until one more use fits. */
export function untilDrained(level: number, { count, windowMs }: Meter): number {
  return Math.max(0, Math.ceil((level - (count - 1) * windowMs) / count));
}
