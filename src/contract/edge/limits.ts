/** What edges report of the limits they count together, and the sums they get back. */

/** Counters of one report. */
export const LIMIT_COUNTERS_MAX = 128;

export interface LimitCounter {
  /** What is limited, and for whom: `page 192.0.2.0/24`. */
  key: string;
  /** Number of the window since the epoch. */
  window: number;
  count: number;
}

/** Of all isolates: in the window before, and in the window. In the order of the counters. */
export type LimitSums = readonly (readonly [before: number, now: number])[];
