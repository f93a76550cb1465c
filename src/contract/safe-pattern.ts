/**
 * Whether a site's own regular expression may run on this service. JavaScript's engine backtracks, so
 * a careless `(a|aa)+$` would hold a Worker for minutes: repeated groups, lookbehind, back references
 * and long counted repetition are refused, and unbounded repetitions are few.
 */

/** On an address of 320 characters, three nested scans are some million steps at worst. */
const UNBOUNDED_MAX = 3;
/** `{n,m}` with more digits and commas than this repeats too often. */
const COUNT_MAX_CHARS = 3;

export function isSafePattern(source: string): boolean {
  let unbounded = 0;
  let afterGroup = false;
  for (let index = 0; index < source.length; index++) {
    const char = source[index]!;
    if (char === '\\') {
      if (/[1-9k]/.test(source[index + 1] ?? '')) return false;
      index++;
      afterGroup = false;
    } else if (char === '[') {
      index = endOfClass(source, index);
      afterGroup = false;
    } else if (char === '(' && /^\(\?<[=!]/.test(source.slice(index, index + 4))) {
      return false;
    } else if (char === '*' || char === '+') {
      if (afterGroup || ++unbounded > UNBOUNDED_MAX) return false;
      afterGroup = false;
    } else if (char === '{') {
      const count = /^\{([\d,]+)\}/.exec(source.slice(index))?.[1];
      if (count !== undefined && (afterGroup || count.length > COUNT_MAX_CHARS)) return false;
      if (count?.endsWith(',') === true && ++unbounded > UNBOUNDED_MAX) return false;
    } else {
      afterGroup = char === ')';
    }
  }
  try {
    return new RegExp(source, 'i') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Index of the `]` that closes the class opened at `start`, or the end of the text. */
function endOfClass(source: string, start: number): number {
  for (let index = start + 1; index < source.length; index++) {
    if (source[index] === '\\') index++;
    else if (source[index] === ']') return index;
  }
  return source.length;
}
