/** One fact that holds for many values is one test. Its message lists the values that break the fact. */

/** Checks every row, also after one that fails, and then throws an error with a line for each failed row. */
export async function expectRows<const Row>(
  rows: readonly Row[],
  check: (row: Row) => unknown,
  nameOf: (row: Row) => unknown = (row) => row,
): Promise<void> {
  if (rows.length === 0) throw new Error('there are no rows to check');
  const failures: string[] = [];
  for (const row of rows) {
    try {
      await check(row);
    } catch (error) {
      failures.push(failureLine(nameOf(row), error));
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} of ${rows.length} rows fail:\n${failures.join('\n')}`);
}

function failureLine(name: unknown, error: unknown): string {
  const { message, expected, actual } = error as { message?: string; expected?: unknown; actual?: unknown };
  const values = expected === actual ? '' : ` | expected ${shown(expected)} | actual ${shown(actual)}`;
  return `${shown(name)} | ${message ?? String(error)}${values}`;
}

/** Enough of a value to recognise it. */
const SHOWN_CHARS = 300;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, written) ?? String(value));
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

/** A pattern or a large number as it is written, because JSON has neither. */
function written(_: string, value: unknown): unknown {
  return value instanceof RegExp || typeof value === 'bigint' ? String(value) : value;
}
