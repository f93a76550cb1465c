/** For what becomes true a moment later: a batch that is under way, a rule that spreads. */

/** Far above what any condition needs: a test on a busy machine waits longer and does not fail. */
const WITHIN_MS = 15_000;
const POLL_MS = 50;

/** Asks until `done` holds. The error of one that never does shows the last value. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  done: (value: Value) => boolean,
  withinMs = WITHIN_MS,
): Promise<Value> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
