/**
 * The clock of the tests. In the `node` and `workerd` projects `Date` stands still: every file and every test begins at
 * `BASE_MS`, and time passes only when a test moves it, or when a helper does whose docstring says so. So no test depends
 * on the hour of its run or on the speed of the machine. Timers run as ever.
 */
import { vi } from 'vitest';

/**
 * An ordinary midday, far from the end of an hour, a day, a month and a year. It is years ahead, so that the alarm that a Durable
 * Object sets by this clock never fires by itself: the runtime's own clock does not reach it, and a test runs the alarm.
 */
export const BASE_MS = Date.UTC(2035, 4, 16, 12, 34, 20, 567);

/** The time by the test clock. */
export const testNow = (): number => Date.now();

/** The time of a test that talks to a stack: its processes run by the clock of the machine, and so does the test. */
export const stackNow = (): number => Date.now();

/** Sets the test clock until the end of the test. */
export function setClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: ms });
}

/**
 * Moves the test clock forward until the end of the test. What an isolate keeps of an account is then dated later than
 * the next test begins, so the next test needs an account of its own.
 */
export function later(ms: number): void {
  setClock(testNow() + ms);
}
