/**
 * The pace of sessions in one isolate. It counts for itself and asks nobody. A session that used more than a quarter of
 * its allowance here is reported, as limits are, so that all isolates know the sum: each of them lets through a third of
 * an allowance more at most. One that has used all that it has is reported as well: a session at a person's pace works
 * ahead, so it is never reported and costs no call.
 * A clearance is reported from its first use on, so each isolate gives one page of it more at most, or in a burst what one
 * clearance has. Later on its day, its visitor's address and networks have a budget, which is counted in the same way.
 */
import { neighboursOf, ownAddress } from '../../address/networks.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { HmacSha256 } from '../../bytes/hmac-sha256.ts';
import type { WaitUntil } from '../../bytes/polled.ts';
import {
  ALLOWANCE_UNITS,
  isPaidByAddress,
  isMetered,
  PACE_WINDOW_MS,
  type PaidWork,
  paidWorkAt,
  type PaceReading,
  type PaceSettings,
  paysByItself,
  readPace,
  SHARES_OF_A_DAY,
} from '../../risk/pace.ts';
import type { TwoWindows } from '../../limits/two-windows.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { ClearanceReading } from '../session/clearances.ts';
import type { SessionReading } from '../session/sessions.ts';
import type { LimitCounts } from './limit-counts.ts';

export type MeteredSession = Pick<SessionReading, 'status' | 'jti' | 'paid'>;
/** A clearance, by what was worked for it, and when. */
export type Cleared = Pick<ClearanceReading, 'jti' | 'powDifficulty' | 'issuedAtMs' | 'sinceMs'>;

export interface PacedVisitor {
  ip: string | null;
  /** Signs the visitor's address. */
  key: HmacSha256;
  nowMs: number;
}

/** 96 bits, as the keys of limits have. */
const ADDRESS_KEY_BYTES = 12;

export interface PaceFound {
  /** How far the session is within its pace; `null`: it is not metered, or there is none. */
  reading: PaceReading | null;
  /**
   * What the request counts for: the session, and beyond what it worked for also the clearance; later on its day, the
   * visitor's address and networks. `null`: that is used up, so that the clearance counts for none. Empty: nothing is counted.
   */
  payers: readonly string[] | null;
  /** How many times a call counts, where a clearance pays and not the session. */
  callWeight?: number;
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

/** Each use is reported: of a clearance, which is good for a few pages, and of a session that has used all that it has. */
const REPORTED_METER: CountedMeter = { ...METER, reported: { from: 0, every: 1 } };

export class Pace {
  readonly #counts: LimitCounts;

  /** `counts`: of sessions alone, so that a flood of them pushes no limit out. */
  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** What the next request finds. */
  read(session: MeteredSession, clearance: Cleared | null, settings: PaceSettings, visitor: PacedVisitor): PaceFound {
    const { nowMs } = visitor;
    const { status, jti, paid } = session;
    // An older service meters no session.
    const isUnmetered = status === 'off' || (status === 'active' && paid === null);
    if (isUnmetered || !isMetered(settings)) return NOT_PACED;
    const isOpen = jti !== null && paid !== null;
    const reading = isOpen ? this.#readingOf(jti, paid, nowMs) : null;
    const ofSession = isOpen ? [jti] : [];
    if (reading?.state === 'within') return { reading, payers: ofSession };
    if (reading?.state === 'beyond' || clearance === null) return { reading, payers: null };
    const use = this.useOf(clearance.jti, nowMs);
    // As many times as a page has calls. Units are whole numbers.
    const callWeight = Math.max(1, Math.round(settings.json / settings.html));
    if (paysByItself(clearance, use)) {
      const payers = [...ofSession, clearance.jti];
      // A visitor who waited and did not work pays as much for a call as for a page.
      return clearance.powDifficulty === 0 ? { reading, payers, callWeight } : { reading, payers };
    }
    const networks = isPaidByAddress(clearance, use.window) ? this.#networksWithRoom(visitor) : null;
    return { reading, payers: networks && [...ofSession, ...networks], callWeight };
  }

  #networksWithRoom({ ip, key, nowMs }: PacedVisitor): string[] | null {
    const { near, around } = neighboursOf(ip);
    const shares: [network: string, share: number][] = [
      [encodeBase64url(key.sign(ownAddress(ip)).subarray(0, ADDRESS_KEY_BYTES)), SHARES_OF_A_DAY.own],
      [near, SHARES_OF_A_DAY.near],
      [around, SHARES_OF_A_DAY.around],
    ];
    const hasRoom = shares.every(([network, share]) => this.useOf(network, nowMs).now < share * ALLOWANCE_UNITS);
    // Where the address is unknown, all three have the same name.
    return hasRoom ? [...new Set(shares.map(([network]) => network))] : null;
  }

  #readingOf(jti: string, paid: PaidWork, nowMs: number): PaceReading {
    const use = this.useOf(jti, nowMs);
    return readPace(paidWorkAt(paid, use.window), use);
  }

  useOf(id: string, nowMs: number): TwoWindows {
    return this.#counts.usesOf(keyOf(id), METER, nowMs);
  }

  take(
    ids: readonly string[],
    units: number,
    nowMs: number,
    { jti, paid }: Pick<MeteredSession, 'jti' | 'paid'>,
  ): void {
    for (const id of ids) {
      const meter = id === jti && paid !== null && this.#hasMoreAfter(units, jti, paid, nowMs) ? METER : REPORTED_METER;
      this.#counts.take(keyOf(id), meter, nowMs, units);
    }
  }

  #hasMoreAfter(units: number, jti: string, paid: PaidWork, nowMs: number): boolean {
    const use = this.useOf(jti, nowMs);
    return readPace(paidWorkAt(paid, use.window), { ...use, now: use.now + units }).state === 'within';
  }

  report(nowMs: number, waitUntil: WaitUntil): void {
    this.#counts.report(nowMs, waitUntil);
  }
}

function keyOf(id: string): string {
  return `pace ${id}`;
}
