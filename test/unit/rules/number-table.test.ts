import { expect, test } from 'vitest';
import { NumberTable } from '../../../src/rules/number-table.ts';
import { collidingNumbers } from './rulesets.ts';

test('numbers that all belong to one place are found, and no other number is', () => {
  for (let count = 0; count <= 40; count++) {
    const numbers = collidingNumbers(count);
    const table = new NumberTable(numbers);
    expect([...numbers].map((number) => table.entryOf(number))).toEqual([...numbers.keys()]);
    const others = [...collidingNumbers(41)].filter((number) => !numbers.includes(number));
    expect(new Set(others.map((number) => table.entryOf(number)))).toEqual(new Set([-1]));
  }
});
