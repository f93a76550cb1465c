/** Waits for a condition that becomes true a moment later: a batch under way, a rule that spreads. */

/** The limit of every wait, also in a browser. It is far above what any condition needs, so a busy machine makes a test slower and not red. */
export const WAIT_MS = 200_000;
const POLL_MS = 50;

/** Asks until `done` holds, and returns the value. The error shows the last value when it never holds. */
export async function eventually<Value>(ask: () => Promise<Value>, done: (value: Value) => boolean): Promise<Value> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (performance.now() > deadline) throw new Error(`Not within ${WAIT_MS} ms: ${JSON.stringify(value)}`);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
