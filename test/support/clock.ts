/** A clock for tests of code that reads `Date.now()`: hours pass at once, and timers run as ever. */
import { onTestFinished, vi } from 'vitest';

/**
 * From here to the end of the test it is so much later, and the clock stands still. Not for concurrent tests, nor for
 * several tests of one account: what an isolate keeps of it is then dated later than the next test begins.
 */
export function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}
