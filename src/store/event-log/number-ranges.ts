/**
 * Sets of record numbers as sorted, disjoint ranges. An isolate's numbers rise without gaps unless a batch was lost, so
 * a few ranges say of a million records which are known.
 */

/** Both inclusive. */
export type NumberRange = readonly [first: number, last: number];

/** The numbers, which rise, as ranges. */
export function rangesOf(numbers: readonly number[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

export function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

export function* numbersIn(ranges: readonly NumberRange[]): Generator<number> {
  for (const [first, last] of ranges) for (let number = first; number <= last; number++) yield number;
}

/** The index of the first range that ends at or after the number. */
function firstReaching(ranges: readonly NumberRange[], number: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as NumberRange)[1] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of `range` that is in the set. */
export function overlapOf(ranges: readonly NumberRange[], [first, last]: NumberRange): NumberRange[] {
  const found: NumberRange[] = [];
  for (let at = firstReaching(ranges, first); at < ranges.length; at++) {
    const [from, to] = ranges[at] as NumberRange;
    if (from > last) break;
    found.push([Math.max(from, first), Math.min(to, last)]);
  }
  return found;
}

/** Adds the range to the set, in place. Ranges that touch become one. */
export function addRange(ranges: NumberRange[], [first, last]: NumberRange): void {
  const start = firstReaching(ranges, first - 1);
  let end = start;
  let [from, to] = [first, last];
  while (end < ranges.length && (ranges[end] as NumberRange)[0] <= last + 1) {
    const [otherFrom, otherTo] = ranges[end] as NumberRange;
    [from, to] = [Math.min(from, otherFrom), Math.max(to, otherTo)];
    end++;
  }
  ranges.splice(start, end - start, [from, to]);
}
