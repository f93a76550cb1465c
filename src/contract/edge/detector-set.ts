/**
 * A set of risk detectors as one number: the detector at place `n` of the list of names is the bit of value `2^n`. The
 * numbers go up to 53 bits, the whole numbers that JSON and SQLite keep exactly, so JavaScript's operators for 32 bits
 * do not work on them.
 */

/** How many names fit. */
export const DETECTOR_SET_MAX = 53;

export function hasDetector(bits: number, place: number): boolean {
  return Math.floor(bits / 2 ** place) % 2 === 1;
}

export function detectorSet(places: readonly number[]): number {
  return [...new Set(places)].reduce((bits, place) => bits + 2 ** place, 0);
}

/** The detectors of either set. */
export function unionOfDetectors(one: number, other: number): number {
  const half = 2 ** 27;
  const low = ((one % half) | (other % half)) >>> 0;
  const high = (Math.floor(one / half) | Math.floor(other / half)) >>> 0;
  return high * half + low;
}
