/**
 * Quiet hours of a channel: alerts wait until they are over. Times are those of a wall clock in the channel's time zone,
 * so quiet hours begin and end at the same time of day in summer and in winter.
 */
import type { QuietHours, SentKind } from '../contract/management/alerts.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** A clock is moved by an hour, in some places by less. Two corrections reach the minute. */
const CORRECTIONS = 2;

/** When an alert of this kind may be sent; epoch milliseconds, `nowMs` or later. */
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
