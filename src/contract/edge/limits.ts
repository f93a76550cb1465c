/** What edges tell and ask the service about the limits that all their isolates count together. */

import type { limitAlgorithms } from '../vocabulary.ts';

/** Counters of one report. */
export const LIMIT_COUNTERS_MAX = 128;
/** Takes of one call. */
export const LIMIT_TAKES_MAX = 64;

/** What an isolate counted. Nobody waits for the sums. */
export interface LimitCounter {
  /** What is limited, and for whom: `page 192.0.2.0/24`, or a signed key. */
  key: string;
  /** Number of the window since the epoch; 0 for a bucket. */
  window: number;
  count: number;
  /** Where it is not the report's. */
  windowMs?: number | undefined;
  /** The key is a bucket that so many uses leave in a window. */
  drains?: number | undefined;
}

/**
 * Of all isolates: in the window before, and in the window. Of a bucket, the second number is the level: uses times the
 * milliseconds of the window. In the order of the counters.
 */
export type LimitSums = readonly (readonly [before: number, now: number])[];

/** A wish for uses of an exact limit. The request waits. */
export interface LimitTake {
  key: string;
  algorithm: (typeof limitAlgorithms)[number];
  /** Uses of one window. */
  count: number;
  windowMs: number;
  asked: number;
}

/** `null`: the object that counts this key did not answer, or is full. In the order of the takes. */
export type LimitTakings = readonly (readonly [granted: number, remaining: number, retryAfterMs: number] | null)[];
