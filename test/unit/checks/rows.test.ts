/** A table in one test: no row hides another, and the message has all that fail. */
import { expect, test } from 'vitest';
import { expectRows } from '../../support/rows.ts';

test('rows that all hold pass, each of them checked', async () => {
  const checked: number[] = [];
  await expectRows([1, 2, 3], (row) => checked.push(row));
  expect(checked).toEqual([1, 2, 3]);
});

test('every row that fails is in the message, with what was expected and what came', async () => {
  const rows = [
    ['one', 1],
    ['two', 3],
    ['three', 3],
    ['four', 5],
  ] as const;
  const numbers: Record<string, number> = { one: 1, two: 2, three: 3, four: 4 };
  const failing = expectRows(rows, async ([name, number]) => expect(numbers[name]).toBe(number));
  await expect(failing).rejects.toThrow(/^2 of 4 rows fail:\n\["two",3\].*expected 3 \| actual 2\n\["four",5\].*$/);
});

test('a row that fails is shown with its patterns and large numbers, which JSON has not', async () => {
  const failing = expectRows([['one', /^a$/, 2n ** 64n]], () => expect('b').toMatch(/^a$/));
  await expect(failing).rejects.toThrow('["one","/^a$/","18446744073709551616"]');
});

test('a table without rows fails', async () => {
  await expect(expectRows([], () => undefined)).rejects.toThrow('no rows');
});
