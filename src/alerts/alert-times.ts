/** When alerts are sent: after quiet hours, again when they were not accepted, and ahead of the end of a key. */
import type { QuietHours, SentKind } from '../contract/management/alerts.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** A clock is moved by an hour, in some places by less. Two corrections reach the minute. */
const CORRECTIONS = 2;

/**
 * When an alert of this kind may be sent; epoch milliseconds, `nowMs` or later. Quiet hours are those of a wall clock in
 * the channel's time zone, so they begin and end at the same time of day in summer and in winter.
 */
export function sendableAt(quiet: QuietHours | null, kind: SentKind, nowMs: number): number {
  if (quiet === null || kind === 'test' || quiet.except.includes(kind)) return nowMs;
  const clock = wallClock(quiet.timeZone);
  const [from, until] = [minuteOf(quiet.from), minuteOf(quiet.until)];
  const now = clock(nowMs);
  if (!isWithin(now, from, until)) return nowMs;
  let end = nowMs - (nowMs % MINUTE_MS) + forward(now, until) * MINUTE_MS;
  for (let round = 0; round < CORRECTIONS; round++) end += nearest(clock(end), until) * MINUTE_MS;
  return Math.max(end, nowMs + MINUTE_MS);
}

function isWithin(minute: number, from: number, until: number): boolean {
  return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}

/** Minutes from one time of day to the next time it is the other. */
function forward(minute: number, target: number): number {
  return (target - minute + DAY_MINUTES) % DAY_MINUTES;
}

/** The same, in whichever direction is shorter. */
function nearest(minute: number, target: number): number {
  const minutes = forward(minute, target);
  return minutes > DAY_MINUTES / 2 ? minutes - DAY_MINUTES : minutes;
}

function minuteOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

/** Minutes since midnight at a moment. */
function wallClock(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (atMs) => minuteOf(format.format(atMs));
}

const FIRST_RETRY_MS = 30_000;
const RETRY_MAX_MS = 3_600_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/** Half of the time is random, so that a receiver which comes back is not called by everybody at once. */
const JITTER = 0.5;

/**
 * When an alert that was not accepted is sent again: soon at first, then once an hour, for a day. A receiver that is
 * down over night gets everything in the morning, and one that is gone costs thirty calls.
 * `attempts`: how many failed. `firstAt`: when the first one was due. `random`: from 0 to 1.
 * @returns when to try again, or `null` when the day is over.
 */
export function retryAt(attempts: number, firstAt: number, nowMs: number, random: number): number | null {
  const whole = Math.min(RETRY_MAX_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20));
  const next = nowMs + Math.round(whole * (1 - JITTER * random));
  return next - firstAt > GIVEN_UP_AFTER_MS ? null : next;
}

const DAY_MS = 24 * 3_600_000;

interface Warning {
  /** A name of the occasion, for the alert's id. */
  moment: string;
  expiresAt: number;
}

/**
 * The warning that is due, or `null`. The end of a key is announced two weeks ahead, or one, and a day ahead. A key that
 * was made for less than twice that time is not announced so early: the person who made it knows. `daysAhead`: of the
 * first warning.
 */
export function expiryWarning(
  { issuedAt, expiresAt }: { issuedAt: number; expiresAt: number },
  daysAhead: number,
  nowMs: number,
): Warning | null {
  if (expiresAt <= nowMs) return null;
  const due = [1, daysAhead].find((days) => expiresAt - nowMs <= days * DAY_MS);
  if (due === undefined || expiresAt - issuedAt < 2 * due * DAY_MS) return null;
  return { moment: `${due}d ${expiresAt}`, expiresAt };
}
