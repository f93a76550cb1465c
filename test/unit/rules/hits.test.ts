import { expect, test } from 'vitest';
import { Hits } from '../../../src/rules/hits.ts';

test('every rule that is found is kept, however many there are', () => {
  const hits = new Hits();
  for (let rule = 0; rule < 3000; rule++) hits.push(rule, rule % 100);
  expect(hits.count).toBe(3000);
  const rules = [...Array(3000).keys()];
  expect([...hits.refs.subarray(0, 3000)]).toEqual(rules.map((rule) => rule * 2));
  expect([...hits.ranks.subarray(0, 3000)]).toEqual(rules.map((rule) => rule % 100));
});
