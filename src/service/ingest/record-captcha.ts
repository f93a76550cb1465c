/**
 * Hands captcha events to the log, in batches, behind the answer: no visitor and no backend waits for
 * the record of what they did. Three attempts, which may repeat what arrived already, since merging
 * is idempotent; then the events are dropped with a log line that says how many.
 */
import { appendCaptchas } from '../../store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../store/event-log/captcha-record.ts';

/** One RPC for many captchas; a shard takes 500 rows at most. */
const BATCH_MAX_EVENTS = 250;
/** How long a captcha may be invisible to a reader for the sake of batching. */
const WINDOW_MS = 100;
/** About 20 MB: what an isolate can spare while the log is slow. */
const BUFFER_MAX_EVENTS = 20_000;
const ATTEMPTS_MAX = 3;
const BACKOFF_BASE_MS = 200;
/** A window older than this lost its request; the next event opens another. */
const WINDOW_LOST_AFTER_MS = 2000;

let buffer: CaptchaEvent[] = [];
let windowOpenedAt: number | null = null;

/** Returns at once. `waitUntil` must be the current request's. */
export function recordCaptcha(env: ServiceEnv, event: CaptchaEvent, waitUntil: (work: Promise<unknown>) => void): void {
  if (buffer.length >= BUFFER_MAX_EVENTS) {
    dropped(1, 'buffer-full');
    return;
  }
  buffer.push(event);
  const now = Date.now();
  if (buffer.length >= BATCH_MAX_EVENTS) waitUntil(drain(env));
  else if (windowOpenedAt === null || now - windowOpenedAt > WINDOW_LOST_AFTER_MS) {
    windowOpenedAt = now;
    waitUntil(sleep(WINDOW_MS).then(() => drain(env)));
  }
}

async function drain(env: ServiceEnv): Promise<void> {
  windowOpenedAt = null;
  const events = buffer;
  buffer = [];
  for (let at = 0; at < events.length; at += BATCH_MAX_EVENTS) {
    await deliver(env, events.slice(at, at + BATCH_MAX_EVENTS));
  }
}

async function deliver(env: ServiceEnv, events: readonly CaptchaEvent[]): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    try {
      await appendCaptchas(env, events);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) dropped(events.length, String(error));
      else await sleep(BACKOFF_BASE_MS * 2 ** (attempt - 1));
    }
  }
}

function dropped(events: number, reason: string): void {
  console.error(JSON.stringify({ event: 'captcha-events-dropped', events, reason }));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
