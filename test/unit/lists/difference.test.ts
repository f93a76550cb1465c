import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryChanges, entryChangesOf, isTooMuchChange } from '../../../src/lists/difference.ts';
import { keyOfRule, lengthOf, wordAt } from '../../../src/lists/entry-key.ts';
import { EntrySet, type SortedEntries } from '../../../src/lists/entry-set.ts';
import { expectRows } from '../../support/rows.ts';

const key = fc
  .constantFrom('1.0.0.0/8', '1.0.0.0/24', '9.9.9.9/32', '200.1.0.0/16', '2001:67c::/32', '2a00::/12', 'AS1', 'AS64496')
  .map((text) =>
    text.startsWith('AS')
      ? keyOfRule({ type: 'asn', value: text.slice(2) })!
      : keyOfRule({ type: 'ipMask', value: text })!,
  );

function entriesOf(keys: readonly string[]): SortedEntries {
  const set = new EntrySet();
  for (const one of keys) {
    if (one.startsWith('4')) set.addV4(wordAt(one, 1), lengthOf(one));
    else set.add(one);
  }
  return set.sorted();
}

async function* inParts(keys: readonly string[], size: number): AsyncGenerator<string> {
  for (let at = 0; at < keys.length; at += size) yield keys.slice(at, at + size).join('');
}

describe('the difference of two readings', () => {
  test('leads from one to the other, in parts of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(key), fc.array(key), fc.integer({ min: 1, max: 4 }), async (before, after, size) => {
        const present = [...new Set(before)].toSorted();
        const result = new Set(present);
        for await (const { add, remove } of entryChanges(inParts(present, size), entriesOf(after), size)) {
          for (const one of remove) expect(result.delete(one)).toBe(true);
          for (const one of add) {
            expect(result.has(one)).toBe(false);
            result.add(one);
          }
        }
        expect(result).toEqual(new Set(after));
      }),
    );
  });

  test('that is known removes before it adds', async () => {
    const both = entriesOf(['a00000001']);
    const steps: string[] = [];
    for await (const { add, remove } of entryChangesOf(both, both)) {
      steps.push(...remove.map((one) => `-${one}`), ...add.map((one) => `+${one}`));
    }
    expect(steps).toEqual(['-a00000001', '+a00000001']);
  });
});

test('a list that may change by 100 percent may change in any way', () => {
  expect(isTooMuchChange(1, 1000, 1, { maxPercent: 100, floor: 0 })).toBe(false);
});

test('more than half of the entries, above the floor, are too much change', () =>
  expectRows<[number, number, number, boolean, number?]>(
    [
      [100, 50, 0, false],
      [100, 51, 0, true],
      [100, 0, 51, true],
      [0, 1000, 0, false],
      [1, 1, 0, true],
      [1, 10, 1, false, 10],
      [1, 11, 1, true, 10],
      [20, 0, 11, true, 10],
    ],
    ([present, added, removed, expected, floor = 0]) => {
      expect(isTooMuchChange(present, added, removed, { maxPercent: 50, floor })).toBe(expected);
    },
  ));
