/**
 * The searchable fields of unsealed captchas, in memory, as columns: a search reads only the bodies of its page. The
 * first search builds them from the table, and every change updates them.
 */
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey } from '../log-row.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import { searchedFields } from '../captcha-fields.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import type { FieldTest } from './captcha-field-test.ts';

const SLOTS_AT_FIRST = 1024;
/** A text of a dictionary has a place in a list and in a map; a row a number in each column and two keys. */
const TEXT_BYTES = 100;
const ROW_BYTES = 300;

interface HotColumn {
  /** JSON text → place in the dictionary. */
  places: Map<string, number>;
  texts: string[];
  /** By slot. */
  indexes: Uint32Array;
}

export class HotColumns {
  readonly #columns = new Map<CaptchaField, HotColumn>(
    searchedFields.map((field) => [field, { places: new Map(), texts: [], indexes: new Uint32Array(SLOTS_AT_FIRST) }]),
  );
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  /** By slot; `null`: free. */
  readonly #keys: (RowKey | null)[] = [];
  #textBytes = 0;

  get size(): number {
    return this.#slots.size;
  }

  /** About what this takes of the memory. */
  get bytes(): number {
    return this.#textBytes + this.#keys.length * ROW_BYTES;
  }

  /** Adds a captcha, or replaces the values of a known one. */
  set(record: CaptchaRecord): void {
    const { id, timestamp } = record;
    const slot = this.#slots.get(id) ?? this.#free.pop() ?? this.#keys.length;
    this.#slots.set(id, slot);
    this.#keys[slot] = { id, timestamp };
    for (const [field, column] of this.#columns) {
      if (slot >= column.indexes.length) column.indexes = grown(column.indexes);
      const text = JSON.stringify(record[field]);
      const texts = column.texts.length;
      column.indexes[slot] = placeIn(column, text);
      if (column.texts.length > texts) this.#textBytes += text.length + TEXT_BYTES;
    }
  }

  delete(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#keys[slot] = null;
    this.#free.push(slot);
  }

  /** The dictionaries still hold texts of deleted rows. They are rebuilt before they outgrow the rows. */
  get isWorn(): boolean {
    const texts = Math.max(...[...this.#columns.values()].map((column) => column.texts.length));
    return texts > SLOTS_AT_FIRST + 2 * this.size;
  }

  /** Keys of the rows in the window that pass every test, in no particular order. `until` exclusive. */
  matching(tests: readonly FieldTest[], since: number, until: number): RowKey[] {
    const found: RowKey[] = [];
    this.each(tests, since, until, (key) => found.push(key));
    return found;
  }

  /** Visits these rows, each with a function that returns the JSON text of a field. */
  each(
    tests: readonly FieldTest[],
    since: number,
    until: number,
    visit: (key: RowKey, textOf: (field: CaptchaField) => string) => void,
  ): void {
    const decided = tests.map((test) => {
      const { indexes, ...column } = this.#columns.get(test.field) as HotColumn;
      return { indexes, passes: passTable(column, test) };
    });
    for (let slot = this.#keys.length - 1; slot >= 0; slot -= 1) {
      const key = this.#keys[slot];
      if (!key || key.timestamp < since || key.timestamp >= until) continue;
      if (!decided.every(({ indexes, passes }) => passes[indexes[slot] as number] === 1)) continue;
      visit(key, (field) => {
        const column = this.#columns.get(field);
        return column?.texts[column.indexes[slot] as number] ?? 'null';
      });
    }
  }
}

function placeIn(column: HotColumn, text: string): number {
  const known = column.places.get(text);
  if (known !== undefined) return known;
  const place = column.texts.push(text) - 1;
  column.places.set(text, place);
  return place;
}

function passTable({ places, texts }: Pick<HotColumn, 'places' | 'texts'>, test: FieldTest): Uint8Array {
  const passes = new Uint8Array(texts.length);
  if (test.only === null) for (const [place, text] of texts.entries()) passes[place] = test.passes(text) ? 1 : 0;
  else {
    const place = places.get(test.only);
    if (place !== undefined) passes[place] = 1;
  }
  return passes;
}

function grown(indexes: Uint32Array): Uint32Array {
  const larger = new Uint32Array(indexes.length * 2);
  larger.set(indexes);
  return larger;
}

/** The newest `limit` of these keys that are older than `before`, newest first. */
export function newestKeys<Key extends RowKey>(keys: Iterable<Key>, before: RowKey | null, limit: number): Key[] {
  let newest: Key[] = [];
  if (limit === 0) return newest;
  let edge: Key | undefined;
  for (const key of keys) {
    if (before !== null && compareNewestFirst(before, key) >= 0) continue;
    if (edge && compareNewestFirst(edge, key) < 0) continue;
    newest.push(key);
    if (newest.length < limit * 2) continue;
    newest = newest.sort(compareNewestFirst).slice(0, limit);
    edge = newest.at(-1);
  }
  return newest.sort(compareNewestFirst).slice(0, limit);
}
