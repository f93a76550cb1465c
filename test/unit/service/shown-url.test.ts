import { expect, test } from 'vitest';
import { hasHiddenValue, shownHost, shownUrl } from '../../../src/service/http/shown-url.ts';
import { expectRows } from '../../support/rows.ts';

test('a URL is shown without the values of its query', () =>
  expectRows(
    [
      ['https://lists.example/drop.txt', 'https://lists.example/drop.txt'],
      ['https://lists.example/drop.txt?key=abc', 'https://lists.example/drop.txt?key=***'],
      ['https://lists.example/?a=1&key=abc%26x&a=2', 'https://lists.example/?a=***&key=***&a=***'],
      ['https://lists.example/?abc', 'https://lists.example/?***'],
      ['https://lists.example/?abc=', 'https://lists.example/?***'],
      ['no address?key=abc', 'no address?key=abc'],
    ],
    ([url, shown]) => {
      expect(shownUrl(url)).toBe(shown);
      expect(shownUrl(shown)).toBe(shown);
      expect(hasHiddenValue(url)).toBe(false);
      expect(hasHiddenValue(shown)).toBe(shown.includes('***'));
    },
  ));

test('the audit trail has only the host of a URL', () =>
  expectRows(
    [
      ['https://lists.example/', 'https://lists.example/'],
      ['https://lists.example/KEY/drop.txt', 'https://lists.example/***'],
      ['https://lists.example/?key=abc', 'https://lists.example/***'],
      ['no address', 'no address'],
    ],
    ([url, shown]) => {
      expect(shownHost(url)).toBe(shown);
    },
  ));
