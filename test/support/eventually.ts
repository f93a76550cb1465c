/** Waits for a condition that becomes true a moment later: a batch under way, a rule that spreads. */

/** Far above what any condition needs, so that a busy machine makes a test slower and not red. */
const WITHIN_MS = 100_000;
const POLL_MS = 50;

/** Asks until `done` holds, and returns the value. The error shows the last value when it never holds. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  done: (value: Value) => boolean,
  withinMs = WITHIN_MS,
): Promise<Value> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
