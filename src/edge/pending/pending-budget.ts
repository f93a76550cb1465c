/**
 * The budget of a network's visitors without a session. A page takes from it when it is asked for. What a page loads is
 * asked for dozens of times before the first session is open, so it has a budget of its own, a hundred times as large.
 * Anyone can write that they ask for a picture, so the response decides what it was: a page that was asked for as a file
 * takes from the pages' budget, and is not handed out where that is used up. A network that goes on gets no files either.
 */
import { neighboursOf } from '../../address/networks.ts';
import type { CountedMeter } from '../config/compiled-limits.ts';
import type { LimitCounts } from '../limits/limit-counts.ts';

export const PENDING_WINDOW_MS = 600_000;
/** A town or a provider around the network. */
const FAR_TIMES = 10;
/** A large page loads about that many files before its session is open. */
const FILES_PER_PAGE = 100;
/** Pages of a network that were asked for, those that were withheld included. Beyond it, files are challenged as well. */
const WITHHELD_TIMES = 2;

/** The share of a budget that one isolate may use before the ledger has heard of it. */
const UNCONFIRMED_SHARE = 6;

export type PendingKind = 'page' | 'file';

export class PendingBudget {
  readonly #counts: LimitCounts;

  constructor(counts: LimitCounts) {
    this.#counts = counts;
  }

  /** `budget`: pages of a near network. */
  hasRoom(kind: PendingKind, ip: string | null, budget: number, nowMs: number): boolean {
    const within = (counted: PendingKind, limit: number): boolean =>
      keysOf(counted, ip).every(
        (key, index) => this.#counts.waitMs(key, meterOf(limit * (index === 0 ? 1 : FAR_TIMES)), nowMs) === 0,
      );
    if (kind === 'page') return within('page', budget);
    return within('file', budget * FILES_PER_PAGE) && within('page', budget * WITHHELD_TIMES);
  }

  take(kind: PendingKind, ip: string | null, nowMs: number): void {
    for (const key of keysOf(kind, ip)) this.#counts.take(key, meterOf(1), nowMs);
  }
}

/** What is counted does not depend on the budget. */
function meterOf(count: number): CountedMeter {
  return { count, windowMs: PENDING_WINDOW_MS, isBucket: false, leash: Math.ceil(count / UNCONFIRMED_SHARE) };
}

function keysOf(kind: PendingKind, ip: string | null): string[] {
  const { near, around } = neighboursOf(ip);
  // The same where the address is unknown.
  return [...new Set([near, around])].map((prefix) => `${kind} ${prefix}`);
}
