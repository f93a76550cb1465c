/**
 * Waits for what another request of the isolate finds out. On Workers a promise belongs to the request that made it, and ends
 * with it: a request that awaits another's can hang, or be cancelled with it. So the finder leaves its result in memory,
 * and each of the others looks there on a timer of its own.
 */

/** Keeps work of a request going behind its response. */
export type WaitUntil = (work: Promise<unknown>) => void;

const PAUSE_MIN_MS = 2;
const PAUSE_MAX_MS = 50;

/** What `read` finds, or `undefined` after `limitMs`. It finds it later than it is there by a quarter of the wait at most. */
export async function polled<T>(
  read: () => T | undefined,
  limitMs: number,
  sleep: (ms: number) => Promise<unknown> = sleepFor,
): Promise<T | undefined> {
  for (let waitedMs = 0; ;) {
    const found = read();
    if (found !== undefined || waitedMs >= limitMs) return found;
    const pauseMs = Math.min(Math.max(PAUSE_MIN_MS, waitedMs / 4), PAUSE_MAX_MS, limitMs - waitedMs);
    await sleep(pauseMs);
    waitedMs += pauseMs;
  }
}

export function sleepFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits for work, but at most `limitMs`. Work that takes longer continues after the wait. */
export function within(work: Promise<unknown>, limitMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout>;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** Work that one request does for all others of its isolate. A request that was cancelled never ends its work. */
export class SharedRun {
  readonly #lostAfterMs: number;
  #current = { startedAtMs: 0, isDone: true };

  /** `lostAfterMs`: after this the next request starts its own. */
  constructor(lostAfterMs: number) {
    this.#lostAfterMs = lostAfterMs;
  }

  /** Starts the work. `null`: another request does it. */
  start(nowMs: number, work: () => Promise<void>): Promise<void> | null {
    if (!this.#current.isDone && nowMs - this.#current.startedAtMs <= this.#lostAfterMs) return null;
    const run = { startedAtMs: nowMs, isDone: false };
    this.#current = run;
    return work().finally(() => (run.isDone = true));
  }

  /** Waits for the work of another request, but at most `limitMs`. */
  ended(limitMs: number): Promise<unknown> {
    const run = this.#current;
    return polled(() => run.isDone || undefined, limitMs);
  }
}
