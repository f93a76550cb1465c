import { expect, test } from 'vitest';
import { hasHiddenValue, shownHost, shownUrl } from '../../../src/service/http/shown-url.ts';

test.each([
  ['https://lists.example/drop.txt', 'https://lists.example/drop.txt'],
  ['https://lists.example/drop.txt?key=abc', 'https://lists.example/drop.txt?key=***'],
  ['https://lists.example/?a=1&key=abc%26x&a=2', 'https://lists.example/?a=***&key=***&a=***'],
  ['https://lists.example/?abc', 'https://lists.example/?***'],
  ['https://lists.example/?abc=', 'https://lists.example/?***'],
  ['no address?key=abc', 'no address?key=abc'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
  expect(shownUrl(shown)).toBe(shown);
  expect(hasHiddenValue(url)).toBe(false);
  expect(hasHiddenValue(shown)).toBe(shown.includes('***'));
});

test.each([
  ['https://lists.example/', 'https://lists.example/'],
  ['https://lists.example/KEY/drop.txt', 'https://lists.example/***'],
  ['https://lists.example/?key=abc', 'https://lists.example/***'],
  ['no address', 'no address'],
])('of %s the audit trail has %s', (url, shown) => {
  expect(shownHost(url)).toBe(shown);
});
