/** Cookies that policies name: how many are kept, and what is known of the others. */
import { expect, test } from 'vitest';
import { NamePlaces, readCookieValues } from '../../../src/policies/compile/named-values.ts';

const VALUES_MAX = 256;
const places = new NamePlaces();
places.add('sid');
const cookies = (count: number): string => Array.from({ length: count }, (_, at) => `sid=${at}`).join('; ');

test('a value that comes again is kept once', () => {
  const found = readCookieValues(places, 'sid=a; sid=a; sid=b');
  expect(found.values).toEqual([['a', 'b']]);
  expect(found.more).toBe(null);
});

test('above 256 values, nobody knows whether another one fits, and none is compared with those that are kept', () => {
  expect(readCookieValues(places, cookies(VALUES_MAX)).more).toBe(null);
  const { values, more } = readCookieValues(places, `${cookies(VALUES_MAX)}; sid=0`);
  expect(values[0]).toHaveLength(VALUES_MAX);
  expect([...(more ?? [])]).toEqual([0]);
});
