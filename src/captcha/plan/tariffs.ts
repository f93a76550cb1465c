/**
 * What each kind of challenge costs more, by what was solved lately. A school behind one address, which solves one a
 * second, pays the base price.
 */
import { networksOf, networksOfAddress } from '../../address/networks.ts';
import { POW_DIFFICULTY_MAX } from './level-prices.ts';
import type { Tariff } from './solved-price.ts';

/** A captcha: 2.5 times the base price at most. */
export const CAPTCHA_TARIFF: Tariff = {
  name: 'captcha',
  networksOf,
  stepsFrom: [30, 60, 120, 240],
  leakPerSecond: 1,
  halfStepsOfStep: 1,
  largerStepsMax: 4,
  // Three forms at once stay at the base price. With more, a stock of sessions would keep a burst cheap.
  timesOfSession: 1 / 10,
};

/** Half steps that double the price. */
const DOUBLING_HALF_STEPS = 3;

/**
 * A session costs more than one form, because it lasts a day: eight times the base price at most. Neighbours of a flood
 * pay it as well, so in a larger network it is four times: on a phone some seconds.
 */
export const SESSION_TARIFF: Tariff = {
  ...CAPTCHA_TARIFF,
  name: 'session',
  stepsFrom: [30, 60, 120],
  halfStepsOfStep: DOUBLING_HALF_STEPS,
  largerStepsMax: 2,
};

/** Attack mode asks every newcomer for the price of a flood. Visitors who have a session pay nothing. */
export const SESSION_ATTACK_HALF_STEPS = SESSION_TARIFF.largerStepsMax * DOUBLING_HALF_STEPS;

/**
 * What a clearance costs more than another captcha: the price of the second and of the third allowance of a session. At the
 * lowest price 20 clearances are an allowance of 60 pages, and an address has so many in ten minutes.
 */
export const CLEARANCE_TARIFF: Tariff = {
  name: 'clearance',
  networksOf: networksOfAddress,
  stepsFrom: [20, 40],
  leakPerSecond: 20 / 600,
  halfStepsOfStep: DOUBLING_HALF_STEPS,
  largerStepsMax: 2,
  timesOfSession: 1,
};

const SESSION_DIFFICULTY = 5.5;

/**
 * What a session costs, as the `powDifficulty` of its time-lock. Everybody's first page pays it, so it is small: a quarter
 * of a second of a desktop core in Chromium.
 * @param halfSteps that it costs more.
 */
export function sessionDifficulty(halfSteps: number): number {
  return Math.min(POW_DIFFICULTY_MAX, SESSION_DIFFICULTY + halfSteps / 2);
}
