/** Times in the viewer's zone; UTC is in the `title`, and in the `datetime` of the element. */
const full = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const seconds = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const date = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: '2-digit' });

export const localTime = (ms: number): string => full.format(ms);
export const localClock = (ms: number): string => clock.format(ms);
export const localDay = (ms: number): string => day.format(ms);
/** Of today the time, of this year day and time, of another year the date. */
export function briefTime(ms: number, nowMs: number): string {
  const [at, now] = [new Date(ms), new Date(nowMs)];
  if (at.toDateString() === now.toDateString()) return seconds.format(ms);
  return (at.getFullYear() === now.getFullYear() ? dayAndClock : date).format(ms);
}
export const utcTime = (ms: number): string => `${new Date(ms).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
export const zoneName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
