import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from '../../../src/bytes/line-diff.ts';
import { runs } from '../../support/properties.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.map((one) => `${one}\n`).join(''));
const side = (before: string, after: string, kind: 'added' | 'removed') =>
  lineDiff(before, after)
    .filter((line) => line.kind !== kind)
    .map((line) => `${line.text}\n`)
    .join('');

/** Length of the longest common subsequence, by the textbook. */
function common(one: readonly string[], other: readonly string[]): number {
  const rows = [...one, ''].map(() => [...other, ''].map(() => 0));
  for (let a = 1; a <= one.length; a++)
    for (let b = 1; b <= other.length; b++)
      rows[a]![b] =
        one[a - 1] === other[b - 1] ? rows[a - 1]![b - 1]! + 1 : Math.max(rows[a - 1]![b]!, rows[a]![b - 1]!);
  return rows[one.length]![other.length]!;
}

test('the lines that are left and those that came make the two texts, and no more lines differ than must', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(side(before, after, 'added')).toBe(before);
      expect(side(before, after, 'removed')).toBe(after);
      const same = lineDiff(before, after).filter(({ kind }) => kind === 'same').length;
      expect(same).toBe(common(before.split('\n').slice(0, -1), after.split('\n').slice(0, -1)));
    }),
    { numRuns: runs(2000) },
  );
});

test('texts that differ everywhere are one change', () => {
  const lines = (name: string) => Array.from({ length: 5000 }, (_, at) => `${name}${at}\n`).join('');
  const kinds = lineDiff(lines('a'), lines('b')).map(({ kind }) => kind);
  expect(kinds).toHaveLength(10_000);
  expect([kinds.indexOf('added'), kinds.includes('same')]).toEqual([5000, false]);
});

test('line ends of every kind are no difference', () => {
  expect(lineDiff('a\r\nb\rc', 'a\nb\nc\n').map(({ kind }) => kind)).toEqual(['same', 'same', 'same']);
});
