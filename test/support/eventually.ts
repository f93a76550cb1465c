/** For what becomes true a moment later: a batch that is under way, a rule that spreads. */

/** Asks until `done` holds; what became of it in the message when it never does. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  done: (value: Value) => boolean,
  withinMs = 5000,
): Promise<Value> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
