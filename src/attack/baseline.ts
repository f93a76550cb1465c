/**
 * What is usual for an instance: its rate, its busiest seconds, how much of it is refused, and how fast its origin is. It
 * follows the hours of a day and is hardly moved by an attack: while an alarm lasts it doubles in an hour at most,
 * so that an alarm ends one day even if the traffic has come to stay.
 */
import { STEP_MS, type TrafficSums } from './traffic.ts';

export interface Baseline {
  /** Requests a second. */
  rate: number;
  /** The highest rate of the last hour or so, up to `BUSY_TIMES` of the rate. */
  peak: number;
  refusedShare: number;
  /** Mean of the origin's responses. */
  originMs: number;
}

/** As much above the usual is still usual: a newsletter, a full hour. */
export const BUSY_TIMES = 4;

const FOLLOWS_WITHIN_MS = 600_000;
const PEAK_LASTS_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const ALARM_GROWTH_PER_HOUR = 2;
/** What grows must not begin with nothing. */
const RATE_MIN = 1;

export const nothingUsual: Readonly<Baseline> = { rate: 0, peak: 0, refusedShare: 0, originMs: 0 };

/**
 * After a step of traffic. `number`: of the step since watching began, from 1: the mean of the first steps is what is
 * usual, so that a busy site is known at once. `busiest`: rate of the seconds around it.
 */
export function withStep(
  usual: Baseline,
  sums: TrafficSums,
  { number, busiest, isAlarm }: { number: number; busiest: number; isAlarm: boolean },
): Baseline {
  const part = Math.max(1 - Math.exp(-STEP_MS / FOLLOWS_WITHIN_MS), 1 / Math.max(1, number));
  const rate = sums.requests / (STEP_MS / 1000);
  const followed = usual.rate + part * (rate - usual.rate);
  if (isAlarm) {
    const grown = Math.max(usual.rate, RATE_MIN) * ALARM_GROWTH_PER_HOUR ** (STEP_MS / HOUR_MS);
    return { ...usual, rate: Math.min(followed, grown) };
  }
  const share = sums.requests === 0 ? usual.refusedShare : sums.refused / sums.requests;
  const originMs = sums.originResponses === 0 ? usual.originMs : sums.originMs / sums.originResponses;
  return {
    rate: followed,
    peak: Math.min(Math.max(usual.peak * Math.exp(-STEP_MS / PEAK_LASTS_MS), busiest), BUSY_TIMES * followed),
    refusedShare: usual.refusedShare + part * (share - usual.refusedShare),
    originMs: usual.originMs === 0 ? originMs : usual.originMs + part * (originMs - usual.originMs),
  };
}
