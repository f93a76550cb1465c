/**
 * Rows of D1 as values. A field has the column of its name in snake case. The column has the value itself, or 0 and 1 for
 * `false` and `true`, or JSON.
 */
type Reading<Value> = (stored: unknown) => Value;

export type Row = Readonly<Record<string, unknown>>;

/** The column has the value itself. */
export function plain<Value extends string | number | null>(): Reading<Value> {
  return (stored) => stored as Value;
}

export function flag(): Reading<boolean> {
  return (stored) => stored === 1;
}

export function fromJson<Value>(): Reading<Value> {
  return (stored) => (stored === null ? null : JSON.parse(stored as string)) as Value;
}

/** Reads these fields in this order, and no other column: a row may also have a secret. */
export function fromRow<Fields extends object>(fields: {
  readonly [Field in keyof Fields]: Reading<Fields[Field]>;
}): (row: Row) => Fields {
  const columns = Object.entries<Reading<unknown>>(fields).map(([field, read]) => ({
    field,
    column: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    read,
  }));
  return (row) => Object.fromEntries(columns.map(({ field, column, read }) => [field, read(row[column])])) as Fields;
}
