/**
 * The schedule of the local stack: a run within two seconds after a call, so that nobody waits for what the call has begun,
 * and otherwise as rarely as in production, so that an idle stack leaves the machine alone.
 */

/** Cloudflare's shortest schedule, a minute, is too long to wait for. */
const LOOK_EVERY_MS = 2000;
/**
 * A call can need several runs: the edge sends its verdicts a moment later, and copies to KV what a run of the service has
 * made.
 */
const BUSY_MS = 10_000;
/** Less than the minute of production: some tasks work only in the first minute of an hour. */
const IDLE_INTERVAL_MS = 55_000;

export class Schedule {
  readonly #run: () => Promise<boolean>;
  #timer: NodeJS.Timeout | null = null;
  #calledAtMs = 0;
  #ranAtMs = 0;
  #hasFailed = false;

  /** `run` returns whether it did its work. A run that did not is repeated soon. */
  constructor(run: () => Promise<boolean>) {
    this.#run = run;
  }

  start(): void {
    this.called();
    this.#wait();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Somebody has called a Worker or a command, and may have changed something. */
  called(): void {
    this.#calledAtMs = Date.now();
  }

  /** Waits anew when a run has ended, so that runs never overlap. */
  #wait(): void {
    const timer = setTimeout(() => {
      void this.#runIfDue().finally(() => {
        if (this.#timer === timer) this.#wait();
      });
    }, LOOK_EVERY_MS);
    this.#timer = timer;
  }

  async #runIfDue(): Promise<void> {
    const nowMs = Date.now();
    // By the start of the last run, which a call may have missed that came while it ran.
    const isIdle = !this.#hasFailed && this.#ranAtMs - this.#calledAtMs >= BUSY_MS;
    if (isIdle && nowMs - this.#ranAtMs < IDLE_INTERVAL_MS) return;
    this.#ranAtMs = nowMs;
    this.#hasFailed = !(await this.#run());
  }
}
