/** Repeats a delivery that failed for a reason that may pass. */
import type { Clock } from './batcher.ts';
import { SinkError } from './sink.ts';

const ATTEMPTS_MAX = 3;
/** 200 and 400 ms with jitter: three attempts and their time-outs fit the 30 s that `waitUntil` grants. */
const BACKOFF_BASE_MS = 200;

/**
 * Whether one of the attempts succeeded. Never rejects. An attempt may repeat what arrived already, so the receiver
 * must drop second copies.
 * @param onFailure is called with the error of each failed attempt.
 */
export async function deliverWithRetries(
  deliver: () => Promise<unknown>,
  clock: Clock,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await deliver();
      return true;
    } catch (error) {
      onFailure(error);
      const isTransient = !(error instanceof SinkError) || error.transient;
      if (!isTransient || attempt === ATTEMPTS_MAX) return false;
      await clock.sleep(BACKOFF_BASE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }
}
