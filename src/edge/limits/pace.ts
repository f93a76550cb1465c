/**
 * The pace of sessions in one isolate. It counts for itself and asks nobody. A session that used more than a quarter of
 * its allowance here is reported, as limits are, so that all isolates know the sum: each of them lets through a third of
 * an allowance more at most. A session at a person's pace is never reported and costs no call.
 * A clearance is reported from its first use on, so each isolate gives one page of it more at most.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import {
  ALLOWANCE_UNITS,
  hasClearanceLeft,
  isMetered,
  PACE_WINDOW_MS,
  type PaidWork,
  paidWorkAt,
  type PaceReading,
  type PaceSettings,
  readPace,
} from '../../risk/pace.ts';
import type { TwoWindows } from '../../limits/two-windows.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { ClearanceReading } from '../session/clearances.ts';
import type { SessionReading } from '../session/sessions.ts';
import type { LimitCounts } from './limit-counts.ts';

export type MeteredSession = Pick<SessionReading, 'status' | 'jti' | 'paid'>;
/** A clearance, by what was worked for it, and when. */
export type Cleared = Pick<ClearanceReading, 'jti' | 'powDifficulty' | 'issuedAtMs'>;

export interface PaceFound {
  /** How far the session is within its pace; `null`: it is not metered, or there is none. */
  reading: PaceReading | null;
  /**
   * The ids that the request counts for: the session, and beyond what it worked for also the clearance. `null`: what they are
   * good for is used up, so that the clearance counts for none. Empty: nothing is counted.
   */
  payers: readonly string[] | null;
}

export const NOT_PACED: PaceFound = { reading: null, payers: [] };

/** Nothing is refused by this meter: what is left is the affair of `risk/pace.ts`. */
const METER: CountedMeter = {
  count: Infinity,
  windowMs: PACE_WINDOW_MS,
  isBucket: false,
  leash: Infinity,
  reported: { from: ALLOWANCE_UNITS / 4, every: ALLOWANCE_UNITS / 16 },
};

/** A clearance is good for a few pages: each use of it is reported. */
const METER_OF_CLEARANCES: CountedMeter = { ...METER, reported: { from: 0, every: 1 } };

export class Pace {
  readonly #counts: LimitCounts;

  /** `counts`: of sessions alone, so that a flood of them pushes no limit out. */
  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** What the next request finds. */
  read(session: MeteredSession, clearance: Cleared | null, settings: PaceSettings, nowMs: number): PaceFound {
    const { status, jti, paid } = session;
    // An older service meters no session.
    const isUnmetered = status === 'off' || (status === 'active' && paid === null);
    if (isUnmetered || !isMetered(settings)) return NOT_PACED;
    const isOpen = jti !== null && paid !== null;
    const reading = isOpen ? this.#readingOf(jti, paid, nowMs) : null;
    const ofSession = isOpen ? [jti] : [];
    if (reading?.state === 'within') return { reading, payers: ofSession };
    if (reading?.state === 'beyond' || clearance === null) return { reading, payers: null };
    const isCleared = hasClearanceLeft(clearance, this.useOf(clearance.jti, nowMs));
    return { reading, payers: isCleared ? [...ofSession, clearance.jti] : null };
  }

  #readingOf(jti: string, paid: PaidWork, nowMs: number): PaceReading {
    const use = this.useOf(jti, nowMs);
    return readPace(paidWorkAt(paid, use.window), use);
  }

  useOf(id: string, nowMs: number): TwoWindows {
    return this.#counts.usesOf(keyOf(id), METER, nowMs);
  }

  take(ids: readonly string[], units: number, nowMs: number, clearance: Cleared | null): void {
    for (const id of ids) {
      const meter = id === clearance?.jti ? METER_OF_CLEARANCES : METER;
      this.#counts.take(keyOf(id), meter, nowMs, units);
    }
  }

  report(nowMs: number, waitUntil: WaitUntil): void {
    this.#counts.report(nowMs, waitUntil);
  }
}

function keyOf(id: string): string {
  return `pace ${id}`;
}
