/**
 * The time of a simulation. `Date` and timers follow it, and it moves only when the simulation moves it: ten minutes pass in
 * seconds, and the speed of the machine changes nothing.
 */

/** The header that tells the service the time. */
export const SERVICE_TIME = 'x-simulated-now';

/** Replaces the clock of this Worker. */
export function setTime(now: () => number): void {
  globalThis.Date = class extends Date {
    constructor(...parts: []) {
      super(...((parts.length === 0 ? [now()] : parts) as []));
    }
    static override now(): number {
      return now();
    }
  } as DateConstructor;
}

interface Timer {
  atMs: number;
  run: () => void;
}

const { setTimeout: realTimeout, clearTimeout: realClear } = globalThis;
/** A shorter pause only joins what is asked at once, and is over at once. */
const PAUSE_MAX_MS = 5;

export class VirtualTime {
  nowMs: number;
  #timers = new Map<unknown, Timer>();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(nowMs: number) {
    this.nowMs = nowMs;
    setTime(() => this.nowMs);
    const setTimer = (run: () => void, ms = 0): unknown => {
      if (ms <= PAUSE_MAX_MS) return realTimeout(run, 0);
      const id = {};
      this.#timers.set(id, { atMs: this.nowMs + ms, run });
      return id;
    };
    const clearTimer = (id: unknown): void => {
      if (!this.#timers.delete(id)) realClear(id as number);
    };
    const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimer(resolve, ms));
    Object.assign(globalThis, { setTimeout: setTimer, clearTimeout: clearTimer });
    Object.defineProperty(globalThis, 'scheduler', { value: { wait }, configurable: true });
    // No call is late.
    AbortSignal.timeout = () => new AbortController().signal;
  }

  /** A call that ends before the time moves on. */
  tracked<Value>(call: Promise<Value>): Promise<Value> {
    const entry: Promise<unknown> = call.catch(() => {}).finally(() => this.#calls.delete(entry));
    this.#calls.add(entry);
    return call;
  }

  /** Moves on to `ms`. What is due on the way happens. */
  async moveTo(ms: number): Promise<void> {
    for (;;) {
      await this.#callsEnded();
      const next = this.#nextUntil(ms);
      if (next === null) break;
      const [id, timer] = next;
      this.#timers.delete(id);
      this.nowMs = Math.max(this.nowMs, timer.atMs);
      timer.run();
      await turn();
    }
    this.nowMs = Math.max(this.nowMs, Math.floor(ms));
  }

  /** Drops what would happen later. On Workers it belongs to the request that ends now. */
  forgetTimers(): void {
    this.#timers.clear();
  }

  #nextUntil(ms: number): [unknown, Timer] | null {
    let found: [unknown, Timer] | null = null;
    for (const entry of this.#timers) if (entry[1].atMs <= (found?.[1].atMs ?? ms)) found = entry;
    return found;
  }

  async #callsEnded(): Promise<void> {
    while (this.#calls.size > 0) {
      await Promise.all(this.#calls);
      await turn();
    }
  }
}

/** Everything that is ready runs. */
function turn(): Promise<void> {
  return new Promise((resolve) => void realTimeout(resolve, 0));
}
