/** Statistics of measured values, which need not be sorted. */

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `share` of the values are below it: 0.99 for the 99th percentile. Not a number when there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function rounded(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
