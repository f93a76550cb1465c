/**
 * The pace of sessions in one isolate. It counts for itself and asks nobody. A session that used more than a quarter of
 * its allowance here is reported, as limits are, so that all isolates know the sum: each of them lets through a third of
 * an allowance more at most. A session at a person's pace is never reported and costs no call.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import {
  ALLOWANCE_UNITS,
  hasClearanceLeft,
  isMetered,
  PACE_WINDOW_MS,
  paidWorkAt,
  type PaceReading,
  type PaceSettings,
  readPace,
} from '../../risk/pace.ts';
import type { TwoWindows } from '../../limits/two-windows.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { SessionReading } from '../session/sessions.ts';
import type { LimitCounts } from './limit-counts.ts';

type MeteredSession = Pick<SessionReading, 'status' | 'jti' | 'paid'>;

/** Nothing is refused by this meter: what is left is the affair of `risk/pace.ts`. */
const METER: CountedMeter = {
  count: Infinity,
  windowMs: PACE_WINDOW_MS,
  isBucket: false,
  leash: Infinity,
  reported: { from: ALLOWANCE_UNITS / 4, every: ALLOWANCE_UNITS / 16 },
};

export class Pace {
  readonly #counts: LimitCounts;

  /** `counts`: of sessions alone, so that a flood of them pushes no limit out. */
  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** `null`: the session is not metered, or there is none. */
  read({ jti, paid }: MeteredSession, settings: PaceSettings, nowMs: number): PaceReading | null {
    if (jti === null || paid === null || !isMetered(settings)) return null;
    const use = this.useOf(jti, nowMs);
    return readPace(paidWorkAt(paid, use.window), use);
  }

  /**
   * The ids that the next request counts for: the session, and beyond what it worked for also the clearance. `null`: what they
   * are good for is used up, so that the clearance counts for none. Empty: nothing is counted.
   */
  payersOf(
    session: MeteredSession,
    clearanceId: string | null,
    settings: PaceSettings,
    nowMs: number,
  ): readonly string[] | null {
    const isUnmetered = session.status === 'off' || (session.status === 'active' && session.paid === null);
    if (isUnmetered || !isMetered(settings)) return [];
    const reading = this.read(session, settings, nowMs);
    const ofSession = reading === null || session.jti === null ? [] : [session.jti];
    if (reading?.state === 'within') return ofSession;
    if (clearanceId === null || !hasClearanceLeft(this.useOf(clearanceId, nowMs))) return null;
    return [...ofSession, clearanceId];
  }

  useOf(id: string, nowMs: number): TwoWindows {
    return this.#counts.usesOf(keyOf(id), METER, nowMs);
  }

  take(ids: readonly string[], units: number, nowMs: number): void {
    for (const id of ids) this.#counts.take(keyOf(id), METER, nowMs, units);
  }

  report(nowMs: number, waitUntil: WaitUntil): void {
    this.#counts.report(nowMs, waitUntil);
  }
}

function keyOf(id: string): string {
  return `pace ${id}`;
}
