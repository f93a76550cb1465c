/** Hands captcha events to the log in batches, after the response: nobody waits for the record of what they did. */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { Batcher } from '../../logsink/batcher.ts';
import { appendCaptchas } from '../../store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../store/event-log/captcha-record.ts';
import type { ServiceStore } from '../environment.ts';
import { isolateBatcher } from './isolate-batcher.ts';

const WINDOW = { windowMs: 250, busyFromEntries: 2, busyWindowMs: 1000 };

/** One batcher for all requests of an isolate, which share their bindings. */
const batchers = new WeakMap<ServiceStore, Batcher<CaptchaEvent>>();

/** Returns at once. `waitUntil` must belong to the current request. */
export function recordCaptcha(store: ServiceStore, event: CaptchaEvent, waitUntil: WaitUntil): void {
  let batcher = batchers.get(store);
  if (batcher === undefined) {
    batcher = isolateBatcher('captcha-events-dropped', WINDOW, (events) => appendCaptchas(store, events));
    batchers.set(store, batcher);
  }
  batcher.add(event, waitUntil);
}
