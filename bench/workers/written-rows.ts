/** Counts the rows that statements of a Durable Object write, as the platform counts them: by their cursors. */

let written = 0;
let isCounting = false;

/** Rows written by all objects of this Worker since the first call. */
export function writtenRows(sql: SqlStorage): number {
  if (!isCounting) countFromNowOn(sql);
  return written;
}

/** The platform keeps the methods in the prototype, which all objects share. */
function countFromNowOn(sql: SqlStorage): void {
  isCounting = true;
  const prototype = Object.getPrototypeOf(sql) as object;
  const exec = Reflect.get(prototype, 'exec') as (...args: unknown[]) => { rowsWritten: number };
  Reflect.set(prototype, 'exec', function counted(this: unknown, ...args: unknown[]) {
    const cursor = Reflect.apply(exec, this, args);
    written += cursor.rowsWritten;
    return cursor;
  });
}
