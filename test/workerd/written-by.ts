/**
 * Counts what a Durable Object writes, as the platform counts it: by the cursors of every statement, and a row for each
 * alarm that is set.
 */

/** Rows that every statement of the object wrote while `work` ran. */
export async function writtenBy(state: DurableObjectState, work: () => Promise<unknown>): Promise<number> {
  const cursors: { rowsWritten: number }[] = [];
  let alarms = 0;
  const restored = [
    spied(state.storage.sql, 'exec', (cursor) => cursors.push(cursor as { rowsWritten: number })),
    spied(state.storage, 'setAlarm', () => alarms++),
  ];
  try {
    await work();
  } finally {
    for (const restore of restored) restore();
  }
  return cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, alarms);
}

/** The objects of the platform keep their methods in their prototypes. */
function spied(object: object, name: string, seen: (result: unknown) => void): () => void {
  const prototype = Object.getPrototypeOf(object) as object;
  const method = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
  Reflect.set(prototype, name, function counted(this: unknown, ...args: unknown[]) {
    const result = Reflect.apply(method, this, args);
    seen(result);
    return result;
  });
  return () => Reflect.set(prototype, name, method);
}
