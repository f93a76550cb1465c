/** A clock for tests of code that reads `Date.now()`: hours pass at once, and timers run as ever. */
import { onTestFinished, vi } from 'vitest';

/**
 * Moves the clock forward until the end of the test and stops it. Not for concurrent tests, nor for several tests of
 * one account: what an isolate keeps of that account is dated later than the next test begins.
 */
export function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}
