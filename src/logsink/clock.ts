/** The time that batches wait by. Tests pass their own, so that no test sleeps. */
export interface Clock {
  /** Epoch milliseconds. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    }),
};
