/**
 * When traffic is an attack, and when the attack is over. An alarm needs two steps of the last eight seconds far above
 * what is usual, and ends after two minutes that are near it. Pure: the steps of traffic and what was known go in, what is
 * known then comes out.
 */
import { BUSY_TIMES, nothingUsual, withStep } from './baseline.ts';
import type { Baseline } from './baseline.ts';
import { addTraffic, noTraffic, STEP_MS } from './traffic.ts';
import type { TrafficStep, TrafficSums } from './traffic.ts';

export const alarmReasons = ['requests', 'refused', 'origin-errors', 'origin-latency'] as const;
export type AlarmReason = (typeof alarmReasons)[number];

export interface Alarm {
  /** Epoch milliseconds. */
  since: number;
  reason: AlarmReason;
  /** Requests a second, when it began: of the attack, and the usual ones. */
  rate: number;
  usualRate: number;
}

export interface Watched {
  usual: Baseline;
  /** When watching began; epoch milliseconds. */
  since: number;
  /** The last step that is part of what is usual. */
  absorbed: number;
  alarm: Alarm | null;
  /** Since when it has been calm during the alarm; `null`: it is not. */
  calmSince: number | null;
}

/** A step that is reported later than this counts nowhere. */
export const STEPS_KEPT = 20;

/** Reports of a step arrive for some seconds. Only then is it part of what is usual. */
const ABSORBED_AFTER_STEPS = 4;
const RECENT_STEPS = 4;
const STEPS_ABOVE = 2;
const CALM_STEPS = 15;
const CALM_FOR_MS = 120_000;
/** Until then nobody can tell what is usual: what comes meanwhile is. */
const FIRST_MS = 20_000;
/** Until then little is known of what is usual, and only a flood counts. */
const LEARNING_MS = 300_000;
const LEARNING_TIMES = 5;
const PEAK_TIMES = 1.5;
/** Where more than the rate speaks for an attack, and where it is calm again. */
const DOUBTED_TIMES = 2;
const CALM_TIMES = 1.5;
const CALM_MINIMUM_SHARE = 0.7;
const REFUSED_SHARE = 0.5;
const REFUSED_MORE = 0.3;
const ERROR_SHARE = 0.5;
const LATENCY_TIMES = 4;
const LATENCY_MIN_MS = 1000;

export function watchedFrom(nowMs: number): Watched {
  // What came before the watch is not known, and is no silence.
  const absorbed = Math.floor(nowMs / STEP_MS);
  return { usual: nothingUsual, since: nowMs, absorbed, alarm: null, calmSince: null };
}

/** `steps`: those of the last `STEPS_KEPT`, by their number. `minimumRate`: below it nothing is an attack. */
export function watch(
  known: Watched,
  steps: ReadonlyMap<number, TrafficStep>,
  minimumRate: number,
  nowMs: number,
): Watched {
  const current = Math.floor(nowMs / STEP_MS);
  const recent = sumOf(steps, current - RECENT_STEPS, current - 1);
  const before = absorb(known, steps, current - ABSORBED_AFTER_STEPS);
  if (before.alarm === null) {
    const reason = reasonOf(before, steps, recent, { minimumRate, current, nowMs });
    if (reason === null) return before;
    const usualRate = before.usual.rate;
    return {
      ...before,
      alarm: { since: nowMs, reason, rate: rateOf(recent, RECENT_STEPS), usualRate },
      calmSince: null,
    };
  }
  const rate = rateOf(sumOf(steps, current - CALM_STEPS, current - 1), CALM_STEPS);
  const isCalm = rate < Math.max(minimumRate * CALM_MINIMUM_SHARE, before.usual.rate * CALM_TIMES);
  if (!isCalm) return { ...before, calmSince: null };
  const calmSince = before.calmSince ?? nowMs;
  return nowMs - calmSince >= CALM_FOR_MS ? { ...before, alarm: null, calmSince: null } : { ...before, calmSince };
}

interface Moment {
  minimumRate: number;
  current: number;
  nowMs: number;
}

function reasonOf(
  { usual, since }: Watched,
  steps: ReadonlyMap<number, TrafficStep>,
  recent: TrafficSums,
  { minimumRate, current, nowMs }: Moment,
): AlarmReason | null {
  if (nowMs - since < FIRST_MS) return null;
  const isLearning = nowMs - since < LEARNING_MS;
  const minimum = minimumRate * (isLearning ? LEARNING_TIMES : 1);
  const isAbove = (rate: number): boolean => {
    const above = Array.from({ length: RECENT_STEPS }, (_, back) => steps.get(current - 1 - back)?.requests ?? 0);
    return above.filter((requests) => requests / (STEP_MS / 1000) >= rate).length >= STEPS_ABOVE;
  };
  if (isAbove(Math.max(minimum, usual.rate * BUSY_TIMES, usual.peak * PEAK_TIMES))) return 'requests';
  if (!isAbove(Math.max(minimum, usual.rate * DOUBTED_TIMES))) return null;
  const refused = recent.refused / recent.requests;
  if (refused >= REFUSED_SHARE && refused >= usual.refusedShare + REFUSED_MORE) return 'refused';
  if (recent.originResponses === 0) return null;
  if (recent.originErrors / recent.originResponses >= ERROR_SHARE) return 'origin-errors';
  const originMs = recent.originMs / recent.originResponses;
  const isSlow = originMs >= Math.max(LATENCY_MIN_MS, usual.originMs * LATENCY_TIMES);
  return isSlow && usual.originMs > 0 ? 'origin-latency' : null;
}

/**
 * Makes steps up to this one part of what is usual. What nobody reported for longer than steps are kept changes nothing: an
 * outage of the service is no quiet time of the site.
 */
function absorb(known: Watched, steps: ReadonlyMap<number, TrafficStep>, until: number): Watched {
  if (until <= known.absorbed) return known;
  const from = Math.max(known.absorbed + 1, until - STEPS_KEPT);
  let { usual } = known;
  for (let step = from; step <= until; step++) {
    const busiest = rateOf(sumOf(steps, step - RECENT_STEPS + 1, step), RECENT_STEPS);
    const number = step - Math.floor(known.since / STEP_MS);
    usual = withStep(usual, steps.get(step) ?? noTraffic, { number, busiest, isAlarm: known.alarm !== null });
  }
  return { ...known, usual, absorbed: until };
}

function sumOf(steps: ReadonlyMap<number, TrafficStep>, first: number, last: number): TrafficSums {
  const sums = { ...noTraffic };
  for (let step = first; step <= last; step++) {
    const found = steps.get(step);
    if (found !== undefined) addTraffic(sums, found);
  }
  return sums;
}

function rateOf({ requests }: TrafficSums, steps: number): number {
  return requests / ((steps * STEP_MS) / 1000);
}
