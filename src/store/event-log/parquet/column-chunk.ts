/**
 * Reads the values of some rows from one column chunk of a segment. Only the entries of the dictionary that these rows
 * name become values, because a page of the log takes a few rows from each of many row groups.
 */
import { snappyUncompress } from 'hyparquet';
import { ByteCursor, UnreadableSegmentError } from './byte-cursor.ts';
import { readPageHeader } from './page-header.ts';
import type { PageHeader } from './page-header.ts';
import { readDeltas, readRuns, readRunsAt } from './packed-integers.ts';
import type { Cell, Column } from './stream-schema.ts';

/** Numbers of the encodings in the Parquet format. */
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const DELTA_BYTE_ARRAY = 7;
const RLE_DICTIONARY = 8;
/** A row group has a few MB at most. */
const PAGE_BYTES_MAX = 67_108_864;

type Single = string | number | boolean;

/** One value for each of `rows`, which are in rising order; `count` is the number of rows in the row group. */
export function readChunk(bytes: Uint8Array, column: Column, count: number, rows: readonly number[]): Cell[] {
  const cursor = new ByteCursor(bytes);
  let header = readPageHeader(cursor);
  let dictionary: Uint8Array | null = null;
  if (header.isDictionary) {
    dictionary = unpacked(cursor.take(header.length), column, header.unpackedLength);
    header = readPageHeader(cursor);
  }
  const depth = (column.nullable ? 1 : 0) + (column.kind === 'texts' ? 1 : 0);
  const entries = header.values;
  if (column.kind !== 'texts' && entries !== count) throw new UnreadableSegmentError('A column has too few rows');
  const repetitions = readLevels(cursor, header.repetitionLength, 1, entries);
  const definitions = readLevels(cursor, header.definitionLength, depth, entries);
  const levels = header.definitionLength + header.repetitionLength;
  const data = cursor.take(header.length - levels);
  const values = new PageValues(
    column,
    header,
    () => unpacked(data, column, header.unpackedLength - levels),
    dictionary,
  );
  if (column.kind === 'texts') return lists(repetitions, definitions, column.nullable ? 2 : 1, values, rows);
  if (definitions === null || header.nulls === 0) return values.at(rows);
  return optional(definitions, values, rows);
}

function readLevels(cursor: ByteCursor, length: number, depth: number, entries: number): Uint32Array | null {
  if (length === 0) return null;
  return readRuns(new ByteCursor(cursor.take(length)), depth === 2 ? 2 : 1, entries);
}

function unpacked(data: Uint8Array, { isPacked }: Column, length: number): Uint8Array {
  if (!isPacked || data.length === 0) return data;
  if (!(length >= 0 && length <= PAGE_BYTES_MAX)) throw new UnreadableSegmentError('A page is too large');
  const output = new Uint8Array(length);
  try {
    snappyUncompress(data, output);
  } catch (error) {
    throw new UnreadableSegmentError('A page is damaged', { cause: error });
  }
  return output;
}

function optional(definitions: Uint32Array, values: PageValues, rows: readonly number[]): Cell[] {
  const places: number[] = [];
  let place = 0;
  let row = 0;
  for (const wanted of rows) {
    for (; row < wanted; row++) place += definitions[row] as number;
    if (definitions[wanted] === 1) places.push(place);
  }
  const found = values.at(places);
  let next = 0;
  return rows.map((wanted) => (definitions[wanted] === 1 ? (found[next++] as Single) : null));
}

function lists(
  repetitions: Uint32Array | null,
  definitions: Uint32Array | null,
  full: number,
  values: PageValues,
  rows: readonly number[],
): Cell[] {
  if (repetitions === null || definitions === null) throw new UnreadableSegmentError('A list has no levels');
  const places: number[] = [];
  const sizes: (number | null)[] = [];
  let row = -1;
  let place = 0;
  let next = 0;
  for (let entry = 0; entry < repetitions.length && next < rows.length; entry++) {
    if (repetitions[entry] === 0) {
      row++;
      if (row > (rows[next] as number)) next++;
      if (row === rows[next]) sizes.push(full === 2 && definitions[entry] === 0 ? null : 0);
    }
    if (definitions[entry] !== full) continue;
    if (row === rows[next]) {
      places.push(place);
      sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + 1;
    }
    place++;
  }
  if (sizes.length < rows.length) throw new UnreadableSegmentError('A list has too few rows');
  const found = values.at(places) as string[];
  let start = 0;
  return sizes.map((size) => {
    if (size === null) return null;
    start += size;
    return found.slice(start - size, start);
  });
}

/** The values of a data page that are not null, by their place. */
class PageValues {
  readonly #column: Column;
  readonly #header: PageHeader;
  readonly #data: () => Uint8Array;
  readonly #dictionary: Uint8Array | null;

  constructor(column: Column, header: PageHeader, data: () => Uint8Array, dictionary: Uint8Array | null) {
    this.#column = column;
    this.#header = header;
    this.#data = data;
    this.#dictionary = dictionary;
  }

  /** `places` are in rising order. */
  at(places: readonly number[]): Single[] {
    if (places.length === 0) return [];
    const { encoding } = this.#header;
    const cursor = new ByteCursor(this.#data());
    if (encoding === RLE_DICTIONARY && this.#dictionary !== null) return this.#fromDictionary(cursor, places);
    if (encoding === DELTA_BINARY_PACKED) {
      const numbers = readDeltas(cursor);
      return places.map((place) => numberAt(numbers, place));
    }
    if (encoding === DELTA_BYTE_ARRAY) return textsByPrefix(cursor, places);
    if (encoding === RLE) {
      cursor.take(4);
      return readRunsAt(cursor, 1, this.#size(), places).map((bit) => bit === 1);
    }
    throw new UnreadableSegmentError('A column has an unknown encoding');
  }

  #size(): number {
    return this.#header.values - this.#header.nulls;
  }

  #fromDictionary(cursor: ByteCursor, places: readonly number[]): Single[] {
    const wanted = readRunsAt(cursor, cursor.byte(), this.#size(), places);
    const dictionary = this.#dictionary as Uint8Array;
    return this.#column.kind === 'text' || this.#column.kind === 'texts'
      ? dictionaryTexts(dictionary, wanted)
      : dictionaryNumbers(dictionary, this.#column, wanted);
  }
}

function numberAt(numbers: Float64Array, place: number): number {
  const value = numbers[place];
  if (value === undefined) throw new UnreadableSegmentError('A column has too few values');
  return value;
}

function dictionaryNumbers(dictionary: Uint8Array, { kind }: Column, wanted: readonly number[]): number[] {
  const view = new DataView(dictionary.buffer, dictionary.byteOffset, dictionary.byteLength);
  return wanted.map((entry) => {
    if (entry * 8 + 8 > view.byteLength) throw new UnreadableSegmentError('A dictionary has too few entries');
    return kind === 'double' ? view.getFloat64(entry * 8, true) : Number(view.getBigInt64(entry * 8, true));
  });
}

/** A mark at the beginning of a text belongs to the text. */
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

function dictionaryTexts(dictionary: Uint8Array, wanted: readonly number[]): string[] {
  const last = wanted.reduce((most, entry) => Math.max(most, entry), 0);
  const starts = new Uint32Array(last + 2);
  const cursor = new ByteCursor(dictionary);
  for (let entry = 0; entry <= last; entry++) {
    cursor.at = (starts[entry] as number) + 4;
    if (cursor.at > dictionary.length) throw new UnreadableSegmentError('A dictionary has too few entries');
    starts[entry + 1] = cursor.at + lengthAt(dictionary, cursor.at - 4);
  }
  if ((starts[last + 1] as number) > dictionary.length) throw new UnreadableSegmentError('A dictionary is cut off');
  const known: (string | undefined)[] = [];
  return wanted.map((entry) => {
    known[entry] ??= decoder.decode(dictionary.subarray((starts[entry] as number) + 4, starts[entry + 1]));
    return known[entry];
  });
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((d << 24) | (c << 16) | (b << 8) | a) >>> 0;
}

/** DELTA_BYTE_ARRAY: how much of the text before each text repeats, and the rest of each text. */
function textsByPrefix(cursor: ByteCursor, places: readonly number[]): string[] {
  const shared = readDeltas(cursor);
  const lengths = readDeltas(cursor);
  const ends = new Uint32Array(lengths.length);
  let end = cursor.at;
  for (let at = 0; at < ends.length; at++) {
    end += lengths[at] as number;
    ends[at] = end;
  }
  if (end > cursor.bytes.length || shared.length !== lengths.length) {
    throw new UnreadableSegmentError('A column of texts is cut off');
  }
  return places.map((place) => {
    let needed = numberAt(shared, place);
    const own = numberAt(lengths, place);
    const text = new Uint8Array(needed + own);
    text.set(cursor.bytes.subarray((ends[place] as number) - own, ends[place]), needed);
    // Each earlier text gives what it has beyond its own prefix.
    for (let at = place - 1; needed > 0; at--) {
      const prefix = numberAt(shared, at);
      if (prefix >= needed) continue;
      const start = (ends[at] as number) - (lengths[at] as number);
      text.set(cursor.bytes.subarray(start, start + needed - prefix), prefix);
      needed = prefix;
    }
    return decoder.decode(text);
  });
}
