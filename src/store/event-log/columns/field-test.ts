/**
 * Tests of the JSON text of a field. Unsealed rows and sealed columns hold the same texts, so one test serves both. A
 * test remembers its results per text, because most rows repeat a few.
 */

type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | readonly JsonScalar[];

export interface FieldTest {
  /** `false` is certain: no text of this dictionary passes. */
  mayPass(dictionary: string): boolean;
  passes(text: string): boolean;
}

/** Distinct texts whose result one test remembers. */
const REMEMBERED_MAX = 10_000;

export function is(value: string | boolean): FieldTest {
  const only = JSON.stringify(value);
  return { mayPass: (dictionary) => dictionary.includes(only), passes: (text) => text === only };
}

/** Of a list: whether it has the item. */
export function has(item: string, wanted: boolean): FieldTest {
  return where((list) => Array.isArray(list) && list.includes(item) === wanted);
}

/** The value, or an item of a list, contains the text; letter case is ignored. */
export function contains(text: string): FieldTest {
  const wanted = text.toLowerCase();
  const escaped = JSON.stringify(wanted).slice(1, -1);
  // Booleans and null are not shown as text.
  const holds = (value: JsonValue): boolean =>
    value !== null &&
    typeof value !== 'boolean' &&
    [value].flat().some((one) => String(one).toLowerCase().includes(wanted));
  return { ...where(holds), mayPass: (dictionary) => dictionary.toLowerCase().includes(escaped) };
}

/** Any condition on the value. */
export function where(condition: (value: JsonValue) => boolean): FieldTest {
  const known = new Map<string, boolean>();
  const passes = (text: string): boolean => {
    let result = known.get(text);
    if (result === undefined) {
      result = condition(JSON.parse(text) as JsonValue);
      if (known.size < REMEMBERED_MAX) known.set(text, result);
    }
    return result;
  };
  return { mayPass: () => true, passes };
}

/** By place, 1 for each text that passes; `null`: none does. */
export function passTable(test: FieldTest, dictionary: string): Uint8Array | null {
  if (!test.mayPass(dictionary)) return null;
  const table = Uint8Array.from(dictionary.split('\n'), (text) => (test.passes(text) ? 1 : 0));
  return table.includes(1) ? table : null;
}

/** How many rows have a text that passes. */
export function passingRows(table: Uint8Array, counts: Uint32Array): number {
  let rows = 0;
  for (const [place, count] of counts.entries()) if (table[place] === 1) rows += count;
  return rows;
}
