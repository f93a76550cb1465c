/** Sets of detectors as one number, also beyond the 32 bits of JavaScript's bit operators. */
import { describe, expect, test } from 'vitest';
import { DETECTOR_SET_MAX, detectorSet, hasDetector } from '../../../src/contract/edge/risk-detectors.ts';
import { expectRows } from '../../support/rows.ts';

const places = Array.from({ length: DETECTOR_SET_MAX }, (_, place) => place);
const placesOf = (bits: number): number[] => places.filter((place) => hasDetector(bits, place));

describe('a set of detectors', () => {
  test('comes back as it was', () =>
    expectRows([[], [0], [31], [32], [52], [0, 26, 27, 30, 31, 32, 51, 52], places], (given) => {
      expect(placesOf(detectorSet(given))).toEqual(given);
    }));

  test('stays a whole number that JSON and SQLite keep', () => {
    expect(detectorSet(places)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('counts a repeated name once', () => {
    expect(detectorSet([40, 40])).toBe(detectorSet([40]));
  });
});
