/** Numbers, shares and durations as people read them. */
const whole = new Intl.NumberFormat('en-US');
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

export const count = (value: number): string => whole.format(value);
/** A number with its noun: `1 rule`, `2,000 rules`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
/** For axes: 12K. */
export const compact = (value: number): string => short.format(value);
/** `–` where there is no whole to have a part of. */
export const percent = (part: number, total: number): string => (total === 0 ? '–' : share.format(part / total));

const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** The largest unit that fits: `3 hours`. */
export function duration(ms: number): string {
  for (const [size, name] of units) {
    const value = Math.floor(ms / size);
    if (value >= 1) return counted(value, name);
  }
  return 'less than a second';
}
