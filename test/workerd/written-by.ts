/** Counts what a Durable Object writes, as the platform counts it: by the cursors of every statement. */

/** Rows that every statement of the object wrote while `work` ran. */
export async function writtenBy(state: DurableObjectState, work: () => Promise<unknown>): Promise<number> {
  const prototype = Object.getPrototypeOf(state.storage.sql) as SqlStorage;
  const exec = Reflect.get(prototype, 'exec') as (...args: unknown[]) => { rowsWritten: number };
  const cursors: { rowsWritten: number }[] = [];
  Reflect.set(prototype, 'exec', function counted(this: SqlStorage, ...args: unknown[]) {
    const cursor = Reflect.apply(exec, this, args);
    cursors.push(cursor);
    return cursor;
  });
  try {
    await work();
  } finally {
    Reflect.set(prototype, 'exec', exec);
  }
  return cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
}
