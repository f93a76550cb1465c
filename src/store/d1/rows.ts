/**
 * Rows of D1 as values. A field has the column of its name in snake case. The column has the value itself, or 0 and 1 for
 * `false` and `true`, or JSON; the types say which.
 */
type Reading = 'plain' | 'flag' | 'json';
type ReadingOf<Value> = [Value] extends [boolean]
  ? 'flag'
  : [Value] extends [string | number | null]
    ? 'plain'
    : 'json';

export type Row = Readonly<Record<string, unknown>>;

const readings: Record<Reading, (stored: unknown) => unknown> = {
  plain: (stored) => stored,
  flag: (stored) => stored === 1,
  json: (stored) => (stored === null ? null : JSON.parse(stored as string)),
};

/** Reads these fields in this order, and no other column: a row may also have a secret. */
export function fromRow<Value extends object>(fields: {
  readonly [Field in keyof Value]-?: ReadingOf<Value[Field]>;
}): (row: Row) => Value {
  const columns = Object.entries<Reading>(fields).map(([field, reading]) => ({
    field,
    column: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    read: readings[reading],
  }));
  return (row) => Object.fromEntries(columns.map(({ field, column, read }) => [field, read(row[column])])) as Value;
}
