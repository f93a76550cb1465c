/**
 * The time of the service, as its responses say it. An edge whose clock is wrong by minutes corrects the times of its
 * records: ten minutes ahead, it would date its verdicts into the future.
 */
import { CLOCK_SKEW_MAX_MS, SENT_AT_HEADER } from '../contract/edge/record-bounds.ts';
import { type Clock, systemClock } from './batcher.ts';

/** From 2001 to 2286. */
const EPOCH_MS = /^[1-9]\d{12}$/;

export class ServiceClock {
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** By how much the service's clock is ahead of this one; 0 for any difference that the log accepts. */
  offsetMs = 0;

  constructor(clock: Pick<Clock, 'nowMs'> = systemClock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.offsetMs;
  }

  /** A small difference changes nothing, so that a record keeps its time at every attempt to send it. */
  learn({ headers }: Response): void {
    const sentAt = headers.get(SENT_AT_HEADER) ?? '';
    // Anything but milliseconds would date every later record to no time at all.
    if (!EPOCH_MS.test(sentAt)) return;
    const serviceNow = Number(sentAt);
    if (Math.abs(serviceNow - this.nowMs()) <= CLOCK_SKEW_MAX_MS) return;
    this.offsetMs = serviceNow - this.#clock.nowMs();
  }
}
