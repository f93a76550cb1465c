/** The forms that a query of the verdict log may have, in JSON and in a form body. */
import { describe, expect, test } from 'vitest';
import {
  bucketSeconds,
  instant,
  trafficByDimensionRequest,
  verdictPageRequest,
} from '../../../src/contract/management/verdict-query.ts';
import { expectRows } from '../../support/rows.ts';

const noon = Date.UTC(2026, 10, 20, 12);

describe('an instant', () => {
  test('is read from a number, its text and ISO 8601', () =>
    expectRows(
      [
        [noon, noon],
        [String(noon), noon],
        ['2026-11-20T12:00:00Z', noon],
        ['2026-11-20T12:00:00.000Z', noon],
        ['2026-11-20T12:00Z', noon],
        ['2026-11-20T13:00:00+01:00', noon],
        ['2026-11-20T12:00:00', noon],
        ['2026-11-20', Date.UTC(2026, 10, 20)],
        [0, 0],
      ],
      ([given, expected]) => {
        expect(instant.parse(given)).toBe(expected);
      },
    ));

  // `Date.parse` would read such a date as a later one.
  test('refuses a day that does not exist', () =>
    expectRows([['2026-02-29'], ['2026-11-31T00:00:00Z'], ['2026-02-30T12:00:00+01:00'], ['2100-02-29']], ([given]) => {
      expect(instant.safeParse(given).success).toBe(false);
    }));

  test('accepts a leap day', () => {
    expect(instant.parse('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
  });

  test('is refused in any other form', () =>
    expectRows(
      [[-1], [1.5], ['yesterday'], ['2026-13-01'], ['12:00'], ['20 Nov 2026'], [''], [null], [8.65e15]],
      ([given]) => {
        expect(instant.safeParse(given).success).toBe(false);
      },
    ));
});

test('a bucket is a word or a number of seconds', () =>
  expectRows(
    [
      ['minute', 60],
      ['hour', 3600],
      ['day', 86_400],
      [300, 300],
      ['300', 300],
    ],
    ([given, seconds]) => {
      expect(bucketSeconds.parse(given)).toBe(seconds);
    },
  ));

test('a bucket of another length is refused', () =>
  expectRows([[0], [61], [-60], ['week'], [2.5], [86_400 * 32]], ([given]) => {
    expect(bucketSeconds.safeParse(given).success).toBe(false);
  }));

test('a single value is a list of one, and numbers may be text', () => {
  expect(
    verdictPageRequest.parse({
      decision: 'block',
      sources: 'risk',
      asn: 'AS64496',
      limit: '10',
      firedRules: 'ip:192.0.2.1',
    }),
  ).toEqual({
    decision: ['block'],
    sources: ['risk'],
    asn: [64_496],
    limit: 10,
    offset: 0,
    firedRules: ['ip:192.0.2.1'],
  });
});

test('a missing field has its documented default', () => {
  expect(verdictPageRequest.parse({})).toEqual({ limit: 50, offset: 0 });
  expect(trafficByDimensionRequest.parse({ groupBy: 'asn' })).toEqual({ groupBy: 'asn', bucket: 3600, topN: 10 });
});
