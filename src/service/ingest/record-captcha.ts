/**
 * Hands captcha events to the log in batches, after the response: nobody waits for the record of what they did.
 * Merging is idempotent, so a batch may be sent again. After three attempts its events are dropped, and a log line
 * says how many.
 */
import { deliverWithRetries } from '../../logsink/attempts.ts';
import { Batcher } from '../../logsink/batcher.ts';
import type { BatchBounds } from '../../logsink/batcher.ts';
import { systemClock } from '../../logsink/clock.ts';
import { appendCaptchas } from '../../store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../store/event-log/captcha-record.ts';
import type { ServiceStore } from '../environment.ts';

const BOUNDS: BatchBounds = {
  // One RPC for many captchas; a shard takes 500 rows at most.
  batchMaxEntries: 250,
  // A batch is one row of the log.
  windowMs: 250,
  busyFromEntries: 8,
  busyWindowMs: 1000,
  // About 20 MB, out of the 128 MB of an isolate.
  bufferMaxEntries: 20_000,
  inFlightMaxBatches: 16,
};

/** One batcher for all requests of an isolate, which share their bindings. */
const batchers = new WeakMap<ServiceStore, Batcher<CaptchaEvent>>();

/** Returns at once. `waitUntil` must belong to the current request. */
export function recordCaptcha(
  store: ServiceStore,
  event: CaptchaEvent,
  waitUntil: (work: Promise<unknown>) => void,
): void {
  let batcher = batchers.get(store);
  if (batcher === undefined) {
    batcher = captchaBatcher(store);
    batchers.set(store, batcher);
  }
  batcher.add(event, waitUntil);
}

function captchaBatcher(store: ServiceStore): Batcher<CaptchaEvent> {
  return new Batcher({
    bounds: BOUNDS,
    clock: systemClock,
    async deliver(events) {
      let reason = '';
      const isDelivered = await deliverWithRetries(
        () => appendCaptchas(store, events),
        systemClock,
        (error) => (reason = String(error)),
      );
      if (!isDelivered) reportDropped(events.length, reason);
    },
    onOverflow: () => reportDropped(1, 'buffer-full'),
  });
}

function reportDropped(events: number, reason: string): void {
  console.error(JSON.stringify({ event: 'captcha-events-dropped', events, reason }));
}
