/** The forms that a query of the verdict log may have, in JSON and in a form body. */
import { describe, expect, test } from 'vitest';
import { instant } from '../../../src/contract/management/time.ts';
import {
  bucketSeconds,
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
        ['2026-11-20T12', noon],
        ['2026-11-20T13:00:00+01', noon],
        ['2026-11-20t12:00:00z', noon],
        ['2026-11-20 12:00:00', noon],
        // A form that does not escape the plus sign of an offset sends a blank.
        ['2026-11-20T13:00:00 01:00', noon],
        ['2026-11-20T12:00:00,5Z', noon + 500],
        ['2026-11-20T12:00:00.0019999Z', noon + 1],
        ['2026-11-19T24:00:00Z', Date.UTC(2026, 10, 20)],
        [' 2026-11-20 ', Date.UTC(2026, 10, 20)],
        ['20261120', Date.UTC(2026, 10, 20)],
        ['20261120T120000Z', noon],
        ['20261120T1300+0100', noon],
        ['1960-01-01', 0],
        [20_261_120, 20_261_120],
        ['20261399', 20_261_399],
        ['0', 0],
        ['1', 1],
        [0, 0],
      ],
      ([given, expected]) => {
        expect(instant.parse(given)).toBe(expected);
      },
    ));

  // `Date.parse` would read such a date as a later one.
  test('refuses a day that does not exist', () =>
    expectRows(
      [
        ['2026-02-29'],
        ['2026-11-31T00:00:00Z'],
        ['2026-02-30T12:00:00+01:00'],
        ['2100-02-29'],
        ['20260229T12'],
        ['2026-11-20T24:00:01'],
        ['2026-11-20T12:60'],
        ['2026-11-20T12:00:00+24:00'],
      ],
      ([given]) => {
        expect(instant.safeParse(given).success).toBe(false);
      },
    ));

  test('accepts a leap day', () => {
    expect(instant.parse('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
  });

  test('is refused in any other form', () =>
    expectRows(
      [
        [-1],
        [1.5],
        ['yesterday'],
        ['2026-13-01'],
        ['2026-1120'],
        ['12:00'],
        ['20 Nov 2026'],
        [''],
        [' '],
        [null],
        [8.65e15],
        ['8650000000000000'],
      ],
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
    includeInternal: true,
  });
});

test('a missing field has its documented default', () => {
  expect(verdictPageRequest.parse({})).toEqual({ limit: 50, offset: 0, includeInternal: true });
  expect(trafficByDimensionRequest.parse({ groupBy: 'asn' })).toEqual({
    groupBy: 'asn',
    bucket: 3600,
    topN: 10,
    includeInternal: true,
  });
});
