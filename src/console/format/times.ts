/** Times in the viewer's zone; UTC is in the `title`, and in the `datetime` of the element. */
const clockParts = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const dayParts = { month: 'short', day: '2-digit' } as const;
const full = new Intl.DateTimeFormat(undefined, { year: 'numeric', ...dayParts, ...clockParts, second: '2-digit' });
const clock = new Intl.DateTimeFormat(undefined, clockParts);
const seconds = new Intl.DateTimeFormat(undefined, { ...clockParts, second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { ...dayParts, ...clockParts });
const date = new Intl.DateTimeFormat(undefined, { year: 'numeric', ...dayParts });
const day = new Intl.DateTimeFormat(undefined, dayParts);

export const localTime = (ms: number): string => full.format(ms);
const DAY_MS = 86_400_000;
/** The hours and minutes of a shorter time would be the same again and again. */
const CLOCK_SPAN_MIN_MS = 600_000;
/** On the axis of a chart that shows `spanMs`. */
export function axisTime(ms: number, spanMs: number): string {
  if (spanMs > 2 * DAY_MS) return day.format(ms);
  return (spanMs < CLOCK_SPAN_MIN_MS ? seconds : clock).format(ms);
}
/** Of today the time, of this year day and time, of another year the date. */
export function briefTime(ms: number, nowMs: number): string {
  const [at, now] = [new Date(ms), new Date(nowMs)];
  if (at.toDateString() === now.toDateString()) return seconds.format(ms);
  return (at.getFullYear() === now.getFullYear() ? dayAndClock : date).format(ms);
}
export const utcTime = (ms: number): string => `${new Date(ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
