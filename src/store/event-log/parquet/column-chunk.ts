/**
 * Reads the values of some rows from one column chunk of a segment. Only the entries of the dictionary that these rows
 * name become values, because a page of the log takes a few rows from each of many row groups.
 */
import { ByteCursor, UnreadableSegmentError } from './byte-cursor.ts';
import { type PageHeader, readPageHeader } from './page-header.ts';
import { readDeltas, readLevelRuns, readRunsAt } from './packed-integers.ts';
import { SnappyBytes } from './snappy.ts';
import type { Cell, ParquetColumn } from './stream-schema.ts';

/** Numbers of the encodings in the Parquet format. */
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const DELTA_BYTE_ARRAY = 7;
const RLE_DICTIONARY = 8;
/** A row group has a few MB at most. */
const PAGE_BYTES_MAX = 67_108_864;

type Single = string | number | boolean;

/** One value for each of `rows`, which are in rising order; `count` is the number of rows in the row group. */
export function readChunk(bytes: Uint8Array, column: ParquetColumn, count: number, rows: readonly number[]): Cell[] {
  const cursor = new ByteCursor(bytes);
  let header = readPageHeader(cursor);
  let dictionary: PageBytes | null = null;
  if (header.isDictionary) {
    dictionary = pageBytes(cursor.take(header.length), column.isPacked, header.unpackedLength);
    header = readPageHeader(cursor);
  }
  const isPacked = header.encoding === RLE_DICTIONARY ? column.isPacked : column.hadPackedDeltas;
  const entries = header.values;
  if (column.kind !== 'texts' && entries !== count) throw new UnreadableSegmentError('A column has too few rows');
  if (column.nullable && column.kind !== 'texts' && header.nulls === entries) return rows.map(() => null);
  const repetitions = cursor.take(header.repetitionLength);
  const definitions = cursor.take(header.definitionLength);
  const levels = header.definitionLength + header.repetitionLength;
  const data = cursor.take(header.length - levels);
  const values = new PageValues(column, header, pageBytes(data, isPacked, header.unpackedLength - levels), dictionary);
  if (column.kind === 'texts') {
    // In version 1 a null list had level 0 and an empty one 1. Now an empty list has 0, and 1 would be a null entry.
    const full = column.nullable ? 2 : 1;
    return lists(readLevels(repetitions, 1, entries), readLevels(definitions, full, entries), full, values, rows);
  }
  if (definitions.length === 0 || header.nulls === 0) return values.at(rows);
  return optional(readLevels(definitions, 1, entries), values, rows);
}

/** Bytes of a page that are complete up to where they were asked for. */
interface PageBytes {
  readonly bytes: Uint8Array;
  /** Throws for an end behind that of the page. */
  unpackTo(end: number): void;
}

function pageBytes(data: Uint8Array, isPacked: boolean, length: number): PageBytes {
  if (isPacked && data.length > 0) {
    if (!(length >= 0 && length <= PAGE_BYTES_MAX)) throw new UnreadableSegmentError('A page is too large');
    return new SnappyBytes(data, length);
  }
  return {
    bytes: data,
    unpackTo(end) {
      if (end > data.length) throw new UnreadableSegmentError('A page is too short');
    },
  };
}

function readLevels(bytes: Uint8Array, highest: 1 | 2, entries: number): Uint8Array {
  if (bytes.length === 0) throw new UnreadableSegmentError('A column has no levels');
  return readLevelRuns(new ByteCursor(bytes), highest, entries);
}

function optional(definitions: Uint8Array, values: PageValues, rows: readonly number[]): Cell[] {
  const ordinals: number[] = [];
  let ordinal = 0;
  let row = 0;
  for (const wanted of rows) {
    for (; row < wanted; row++) ordinal += definitions[row] as number;
    if (definitions[wanted] === 1) ordinals.push(ordinal);
  }
  const found = values.at(ordinals);
  let next = 0;
  return rows.map((wanted) => (definitions[wanted] === 1 ? (found[next++] as Single) : null));
}

function lists(
  repetitions: Uint8Array,
  definitions: Uint8Array,
  full: number,
  values: PageValues,
  rows: readonly number[],
): Cell[] {
  const ordinals: number[] = [];
  const sizes: number[] = [];
  let entry = 0;
  // Before this entry: the last row, and the number of values.
  let row = -1;
  let ordinal = 0;
  for (const wanted of rows) {
    for (; entry < repetitions.length && row + 1 - (repetitions[entry] as number) < wanted; entry++) {
      row += 1 - (repetitions[entry] as number);
      if (definitions[entry] === full) ordinal++;
    }
    if (entry >= repetitions.length) throw new UnreadableSegmentError('A list has too few rows');
    const first = ordinal;
    row = wanted;
    do if (definitions[entry++] === full) ordinals.push(ordinal++);
    while (repetitions[entry] === 1);
    sizes.push(ordinal - first);
  }
  const found = values.at(ordinals) as string[];
  let start = 0;
  return sizes.map((size) => {
    start += size;
    return found.slice(start - size, start);
  });
}

/** The values of a data page that are not null, by their ordinal. */
class PageValues {
  readonly #column: ParquetColumn;
  readonly #header: PageHeader;
  readonly #data: PageBytes;
  readonly #dictionary: PageBytes | null;

  constructor(column: ParquetColumn, header: PageHeader, data: PageBytes, dictionary: PageBytes | null) {
    this.#column = column;
    this.#header = header;
    this.#data = data;
    this.#dictionary = dictionary;
  }

  /** `ordinals` are in rising order. */
  at(ordinals: readonly number[]): Single[] {
    if (ordinals.length === 0) return [];
    const { encoding } = this.#header;
    const { bytes } = this.#data;
    this.#data.unpackTo(bytes.length);
    const cursor = new ByteCursor(bytes);
    if (encoding === RLE_DICTIONARY && this.#dictionary !== null) return this.#fromDictionary(cursor, ordinals);
    if (encoding === DELTA_BINARY_PACKED) {
      const numbers = readDeltas(cursor, (ordinals.at(-1) as number) + 1);
      return ordinals.map((ordinal) => numberAt(numbers, ordinal));
    }
    if (encoding === DELTA_BYTE_ARRAY) return textsByPrefix(cursor, ordinals);
    if (encoding === RLE) {
      cursor.take(4);
      return readRunsAt(cursor, 1, this.#size(), ordinals).map((bit) => bit === 1);
    }
    throw new UnreadableSegmentError('A column has an unknown encoding');
  }

  #size(): number {
    return this.#header.values - this.#header.nulls;
  }

  #fromDictionary(cursor: ByteCursor, ordinals: readonly number[]): Single[] {
    const wanted = readRunsAt(cursor, cursor.byte(), this.#size(), ordinals);
    const dictionary = this.#dictionary as PageBytes;
    return this.#column.kind === 'text' || this.#column.kind === 'texts'
      ? dictionaryTexts(dictionary, wanted)
      : dictionaryNumbers(dictionary, this.#column, wanted);
  }
}

function numberAt(numbers: Float64Array, ordinal: number): number {
  const value = numbers[ordinal];
  if (value === undefined) throw new UnreadableSegmentError('A column has too few values');
  return value;
}

function dictionaryNumbers(dictionary: PageBytes, { kind }: ParquetColumn, wanted: readonly number[]): number[] {
  const { bytes } = dictionary;
  dictionary.unpackTo(8 * (highest(wanted) + 1));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return wanted.map((entry) =>
    kind === 'double' ? view.getFloat64(entry * 8, true) : Number(view.getBigInt64(entry * 8, true)),
  );
}

const highest = (numbers: readonly number[]): number => numbers.reduce((most, one) => Math.max(most, one), 0);

/** A mark at the beginning of a text belongs to the text. */
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

function dictionaryTexts(dictionary: PageBytes, wanted: readonly number[]): string[] {
  const { bytes } = dictionary;
  const last = highest(wanted);
  const starts = new Uint32Array(last + 2);
  let start = 0;
  for (let entry = 0; entry <= last; entry++) {
    dictionary.unpackTo(start + 4);
    start += 4 + lengthAt(bytes, start);
    starts[entry + 1] = start;
  }
  dictionary.unpackTo(start);
  const known: (string | undefined)[] = [];
  return wanted.map((entry) => {
    known[entry] ??= decoder.decode(bytes.subarray((starts[entry] as number) + 4, starts[entry + 1]));
    return known[entry];
  });
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((d << 24) | (c << 16) | (b << 8) | a) >>> 0;
}

/** DELTA_BYTE_ARRAY: how much of the text before each text repeats, and the rest of each text. */
function textsByPrefix(cursor: ByteCursor, ordinals: readonly number[]): string[] {
  const count = (ordinals.at(-1) as number) + 1;
  const shared = readDeltas(cursor, count);
  const lengths = readDeltas(cursor, count);
  const ends = new Uint32Array(lengths.length);
  let end = cursor.at;
  for (let at = 0; at < ends.length; at++) {
    end += lengths[at] as number;
    ends[at] = end;
  }
  if (end > cursor.bytes.length || shared.length !== lengths.length) {
    throw new UnreadableSegmentError('A column of texts is cut off');
  }
  return ordinals.map((ordinal) => {
    let needed = numberAt(shared, ordinal);
    const own = numberAt(lengths, ordinal);
    const text = new Uint8Array(needed + own);
    text.set(cursor.bytes.subarray((ends[ordinal] as number) - own, ends[ordinal]), needed);
    // Each earlier text gives what it has beyond its own prefix.
    for (let at = ordinal - 1; needed > 0; at--) {
      const prefix = numberAt(shared, at);
      if (prefix >= needed) continue;
      const start = (ends[at] as number) - (lengths[at] as number);
      text.set(cursor.bytes.subarray(start, start + needed - prefix), prefix);
      needed = prefix;
    }
    return decoder.decode(text);
  });
}
