/**
 * The pace of sessions in one isolate. It counts for itself and asks nobody. A session that used more than a quarter of
 * its allowance here is reported, as limits are, so that all isolates know the sum: each of them lets through a quarter
 * more than that at most. A session at a person's pace is never reported and costs no call.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import {
  isMetered,
  type PaceReading,
  type PaceSettings,
  PACE_WINDOW_MS,
  paidWorkAt,
  readPace,
} from '../../risk/pace.ts';
import type { TwoWindows } from '../../limits/two-windows.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { SessionReading } from '../session/sessions.ts';
import type { LimitCounts } from './limit-counts.ts';

const REPORTED_SHARE = 1 / 4;

export class Pace {
  readonly #counts: LimitCounts;

  /** `counts`: of sessions alone, so that a flood of them pushes no limit out. */
  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** `null`: the session is not metered. */
  read({ jti, paid }: Pick<SessionReading, 'jti' | 'paid'>, settings: PaceSettings, nowMs: number): PaceReading | null {
    if (jti === null || paid === null || !isMetered(settings)) return null;
    const use = this.useOf(jti, settings, nowMs);
    return readPace(paidWorkAt(paid, use.window), use, settings);
  }

  useOf(jti: string, settings: PaceSettings, nowMs: number): TwoWindows {
    return this.#counts.usesOf(keyOf(jti), meterOf(settings), nowMs);
  }

  take(jti: string, units: number, settings: PaceSettings, nowMs: number): void {
    this.#counts.take(keyOf(jti), meterOf(settings), nowMs, units);
  }

  report(nowMs: number, waitUntil: WaitUntil): void {
    this.#counts.report(nowMs, waitUntil);
  }
}

function keyOf(jti: string): string {
  return `pace ${jti}`;
}

/** Nothing is refused by this meter: what is left is the affair of `risk/pace.ts`. */
function meterOf({ json: allowance }: PaceSettings): CountedMeter {
  const reportedFrom = Math.ceil(allowance * REPORTED_SHARE);
  return { count: Infinity, windowMs: PACE_WINDOW_MS, isBucket: false, leash: Infinity, reportedFrom };
}
