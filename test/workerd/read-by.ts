/** Counts what the statements of a Durable Object read: rows as the platform counts them, and bytes of the values. */

export interface Read {
  rows: number;
  bytes: number;
}

type Row = Record<string, SqlStorageValue>;

export async function readBy(state: DurableObjectState, work: () => unknown): Promise<Read> {
  const prototype = Object.getPrototypeOf(state.storage.sql) as SqlStorage;
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { exec } = prototype;
  const cursors: SqlStorageCursor<Row>[] = [];
  let bytes = 0;
  const counted = (row: Row): Row => {
    for (const value of Object.values(row)) bytes += sizeOf(value);
    return row;
  };
  function* seen(cursor: SqlStorageCursor<Row>) {
    for (let next = cursor.next(); !next.done; next = cursor.next()) yield counted(next.value);
  }
  prototype.exec = function counting(this: SqlStorage, ...args: Parameters<typeof exec>) {
    const cursor = exec.apply(this, args) as SqlStorageCursor<Row>;
    cursors.push(cursor);
    const rows = seen(cursor);
    return Object.assign(rows, {
      toArray: () => [...rows],
      one: () => counted(cursor.one()),
    });
  } as unknown as typeof exec;
  try {
    await work();
  } finally {
    prototype.exec = exec;
  }
  return { rows: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0), bytes };
}

function sizeOf(value: SqlStorageValue): number {
  if (typeof value === 'string') return value.length;
  return value instanceof ArrayBuffer ? value.byteLength : 8;
}
