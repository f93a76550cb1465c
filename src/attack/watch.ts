/**
 * When traffic is an attack, and when the attack is over. An alarm needs two steps of the last eight seconds far above
 * what is usual, or pulses whose mean of half a minute is. It ends when the mean of some minutes is near the usual again, so
 * a short burst now and then does not hold it. Many times the traffic of an alarm is an alarm of its own. Pure: the steps
 * of traffic and what was known go in, what is known then comes out.
 */
import { STEP_MS, addTraffic, noTraffic, type TrafficStep, type TrafficSums } from './traffic.ts';

const alarmReasons = ['requests', 'refused', 'origin-errors', 'origin-latency'] as const;
type AlarmReason = (typeof alarmReasons)[number];

export interface Alarm {
  /** Epoch milliseconds. */
  since: number;
  reason: AlarmReason;
  /** Requests a second, when it began: of the attack, and the usual ones. */
  rate: number;
  usualRate: number;
  /** The most of its first minute: several times as much is another alarm. */
  highest: number;
}

export interface Watched {
  usual: Baseline;
  /** When watching began; epoch milliseconds. */
  since: number;
  /** The last step that is part of what is usual. */
  absorbed: number;
  alarm: Alarm | null;
  /** Of the alarm: a mean of the traffic of the last minutes, in multiples of what is calm. Below 1 it is over. */
  unrest: number;
}

/** A step that is reported later than this counts nowhere. */
export const STEPS_KEPT = 20;

/** Reports of a step arrive for some seconds. Only then is it part of what is usual. */
const ABSORBED_AFTER_STEPS = 4;
const RECENT_STEPS = 4;
const STEPS_ABOVE = 2;
/** Pulses of up to half a minute are seen as what they are on average. */
const PULSE_STEPS = 16;
/** How slowly unrest rises and falls. From its highest it is below 1 after two minutes without traffic. */
const UNREST_WITHIN_MS = 90_000;
/** So that a flood of any size ends as soon after its end. */
const UNREST_MAX = 4;
/** Nobody looks at a silent instance more often. What was silent for longer may be an outage of the service. */
const SILENCE_MAX_STEPS = 30;
/** An alarm that has become so many times as large is another one. What it grows by in its first minute belongs to it. */
const ESCALATION_TIMES = 4;
const GROWS_FOR_MS = 60_000;
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
const UNREST_PART = 1 - Math.exp(-STEP_MS / UNREST_WITHIN_MS);
const REFUSED_SHARE = 0.5;
const REFUSED_MORE = 0.3;
const ERROR_SHARE = 0.5;
const LATENCY_TIMES = 4;
const LATENCY_MIN_MS = 1000;

export function watchedFrom(nowMs: number): Watched {
  // What came before the watch is not known, and is no silence.
  const absorbed = Math.floor(nowMs / STEP_MS);
  return { usual: nothingUsual, since: nowMs, absorbed, alarm: null, unrest: 0 };
}

/** As it was stored. An alarm of an earlier form, which says less, begins anew if it lasts. */
export function watchedIn(stored: string): Watched {
  const known = JSON.parse(stored) as Watched;
  return typeof known.unrest === 'number' ? known : { ...known, alarm: null, unrest: 0 };
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
  const rate = rateOf(recent, RECENT_STEPS);
  const before = absorb(known, steps, minimumRate, current - ABSORBED_AFTER_STEPS);
  const { alarm } = before;
  const begins = (reason: AlarmReason): Watched => {
    // Between the pulses of an attack, or when its last steps are told late, the newest steps are empty.
    const highest = Math.max(rate, rateOf(sumOf(steps, current - PULSE_STEPS, current - 1), PULSE_STEPS));
    const begun = { since: nowMs, reason, rate: highest, usualRate: before.usual.rate, highest };
    return { ...before, alarm: begun, unrest: UNREST_MAX };
  };
  if (alarm === null) {
    const reason = reasonOf(before, steps, recent, { minimumRate, current, nowMs });
    return reason === null ? before : begins(reason);
  }
  if (nowMs - alarm.since < GROWS_FOR_MS) {
    return { ...before, alarm: { ...alarm, highest: Math.max(alarm.highest, rate) } };
  }
  if (rate >= Math.max(minimumRate, alarm.highest * ESCALATION_TIMES)) return begins('requests');
  return before.unrest < 1 ? { ...before, alarm: null, unrest: 0 } : before;
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
  const stepsAbove = (rate: number, of: number): number => {
    const lately = Array.from({ length: of }, (_, back) => steps.get(current - 1 - back)?.requests ?? 0);
    return lately.filter((requests) => requests / (STEP_MS / 1000) >= rate).length;
  };
  const meanRate = rateOf(sumOf(steps, current - PULSE_STEPS, current - 1), PULSE_STEPS);
  const isAbove = (rate: number): boolean =>
    stepsAbove(rate, RECENT_STEPS) >= STEPS_ABOVE || (meanRate >= rate && stepsAbove(rate, PULSE_STEPS) >= STEPS_ABOVE);
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
 * Makes steps up to this one part of what is usual, and of the unrest of an alarm. What nobody reported for longer than
 * steps are kept changes nothing of the usual: an outage of the service is no quiet time of the site.
 */
function absorb(known: Watched, steps: ReadonlyMap<number, TrafficStep>, minimumRate: number, until: number): Watched {
  if (until <= known.absorbed) return known;
  const from = Math.max(known.absorbed + 1, until - STEPS_KEPT);
  const isAlarm = known.alarm !== null;
  const silentSteps = Math.min(from - known.absorbed - 1, SILENCE_MAX_STEPS);
  let { usual } = known;
  let unrest = known.unrest * (1 - UNREST_PART) ** silentSteps;
  for (let step = from; step <= until; step++) {
    const busiest = rateOf(sumOf(steps, step - RECENT_STEPS + 1, step), RECENT_STEPS);
    const number = step - Math.floor(known.since / STEP_MS);
    usual = withStep(usual, steps.get(step) ?? noTraffic, { number, busiest, isAlarm });
    const rate = rateOf(sumOf(steps, step - PULSE_STEPS + 1, step), PULSE_STEPS);
    const calmRate = Math.max(minimumRate * CALM_MINIMUM_SHARE, usual.rate * CALM_TIMES);
    unrest += UNREST_PART * ((rate < calmRate ? 0 : Math.min(UNREST_MAX, rate / calmRate)) - unrest);
  }
  return { ...known, usual, absorbed: until, unrest: isAlarm ? unrest : 0 };
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

/**
 * What is usual for an instance: its rate, its busiest seconds, how much of it is refused, and how fast its origin is. It
 * follows the hours of a day and is hardly moved by an attack: while an alarm lasts it doubles in an hour at most,
 * so that an alarm ends one day even if the traffic has come to stay.
 */
interface Baseline {
  /** Requests a second. */
  rate: number;
  /** The highest rate of the last hour or so, up to `BUSY_TIMES` of the rate. */
  peak: number;
  refusedShare: number;
  /** Mean of the origin's responses. */
  originMs: number;
}

/** As much above the usual is still usual: a newsletter, a full hour. */
const BUSY_TIMES = 4;

const FOLLOWS_WITHIN_MS = 600_000;
const PEAK_LASTS_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const ALARM_GROWTH_PER_HOUR = 2;
/** What grows must not begin with nothing. */
const RATE_MIN = 1;

const nothingUsual: Readonly<Baseline> = { rate: 0, peak: 0, refusedShare: 0, originMs: 0 };

/**
 * After a step of traffic. `number`: of the step since watching began, from 1: the mean of the first steps is what is
 * usual, so that a busy site is known at once. `busiest`: rate of the seconds around it.
 */
function withStep(
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
