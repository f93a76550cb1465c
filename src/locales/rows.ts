/**
 * Browser scripts carry languages as rows of texts, which are fewer bytes than the same texts by field.
 */
export interface Rows<Messages> {
  /** The order of every row. */
  fields: readonly (keyof Messages)[];
  /** By language tag. */
  rows: Readonly<Record<string, readonly string[]>>;
}

/** Texts by field, by language tag. */
export function expandRows<Messages>({ fields, rows }: Rows<Messages>): Record<string, Messages> {
  const expand = (row: readonly string[]): Messages =>
    Object.fromEntries(fields.map((field, at) => [field, row[at]])) as Messages;
  return Object.fromEntries(Object.entries(rows).map(([tag, row]) => [tag, expand(row)]));
}
