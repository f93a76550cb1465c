/**
 * The time of the service, as its responses say it. A clock that is wrong by minutes is corrected in what an edge tells
 * of time: an edge that is ten minutes ahead would date its verdicts into the future.
 */
import { CLOCK_SKEW_MAX_MS, SENT_AT_HEADER } from '../contract/edge/record-bounds.ts';
import { systemClock } from './batcher.ts';
import type { Clock } from './batcher.ts';

export class ServiceClock {
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** What the service's clock is ahead of this one; 0 for any difference that the log accepts. */
  offsetMs = 0;

  constructor(clock: Pick<Clock, 'nowMs'> = systemClock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.offsetMs;
  }

  /** A small difference changes nothing, so that a record keeps its time at every attempt to send it. */
  learn({ headers }: Response): void {
    const serviceNow = headers.get(SENT_AT_HEADER);
    if (serviceNow === null || Math.abs(Number(serviceNow) - this.nowMs()) <= CLOCK_SKEW_MAX_MS) return;
    this.offsetMs = Number(serviceNow) - this.#clock.nowMs();
  }
}
