/** Looks up keys in many sealed segments at once. */
import { KeySlice } from './key-slice.ts';
import type { SoughtKey } from './key-slice.ts';
import { isCut, keyBytes, keyText, prefixBounds } from './key-text.ts';
import { hashSlice, placeOfId, sliceId, SMALL_SLICE } from './segment-keys.ts';
import type { KeyField } from './segment-keys.ts';
import { knownBounds, slicesOfKey } from './slice-bounds.ts';

/** Rows of a segment with a key, and what stands beside them, by posting. */
export interface Postings {
  /** Rising. */
  rows: Uint16Array;
  /** The row's place in the column that was given to `SegmentKeysBuilder.write`. */
  classes: Uint16Array;
  /** The place of its path. */
  paths: Uint16Array;
}

/** Numbers of segments, inclusive. */
export interface SegmentSpan {
  first: number;
  last: number;
}

const none = new Uint16Array(0);

/** The rows with any of several keys, in every segment of the span. */
export class KeyLookup {
  readonly #found = new Map<number, Postings[]>();

  constructor(sql: SqlStorage, field: Exclude<KeyField, 'path'>, texts: readonly string[], span: SegmentSpan) {
    const bySlice = new Map<number, Uint8Array[]>([[SMALL_SLICE, []]]);
    for (const key of new Set(texts.map(keyText))) {
      const slice = hashSlice(field, key);
      const bytes = keyBytes(key);
      bySlice.get(SMALL_SLICE)?.push(bytes);
      bySlice.set(slice, [...(bySlice.get(slice) ?? []), bytes]);
    }
    for (const [no, keys] of bySlice) {
      for (const { segment, slice } of slicesBetween(sql, field, no, no, span)) {
        for (const key of keys) this.#add(segment, slice, key);
      }
    }
  }

  get segments(): number[] {
    return [...this.#found.keys()];
  }

  of(segment: number): Postings | null {
    const found = this.#found.get(segment);
    if (found === undefined) return null;
    return found.length === 1 ? (found[0] as Postings) : united(found);
  }

  #add(segment: number, slice: KeySlice, key: Uint8Array): void {
    const { isHeld, from, to } = slice.seek(key);
    if (!isHeld) return;
    const column = (no: number): Uint16Array => (no < slice.columns ? slice.column(no).subarray(from, to) : none);
    const postings = { rows: column(0), classes: column(1), paths: column(2) };
    const found = this.#found.get(segment);
    if (found) found.push(postings);
    else this.#found.set(segment, [postings]);
  }
}

/** A row with several of the keys is listed once. */
function united(found: readonly Postings[]): Postings {
  const all = found.flatMap(({ rows, classes, paths }) =>
    Array.from(rows, (row, at): [number, number, number] => [row, classes[at] ?? 0, paths[at] ?? 0]),
  );
  const rising = all.sort(([one], [other]) => one - other).filter(([row], at) => row !== all[at - 1]?.[0]);
  return {
    rows: Uint16Array.from(rising, ([row]) => row),
    classes: Uint16Array.from(rising, ([, one]) => one),
    paths: Uint16Array.from(rising, ([, , path]) => path),
  };
}

interface PlacedSlice {
  segment: number;
  slice: KeySlice;
}

/** By slice, then by segment. */
function* slicesBetween(
  sql: SqlStorage,
  field: KeyField,
  from: number,
  to: number,
  { first, last }: SegmentSpan,
): Generator<PlacedSlice> {
  if (first > last) return;
  for (let no = from; no <= to; no++) {
    for (const { at, data } of sql.exec<{ at: number; data: ArrayBuffer }>(
      'SELECT at, data FROM segment_keys WHERE at >= ? AND at < ?',
      sliceId(field, no, first),
      sliceId(field, no, last + 1),
    )) {
      yield { segment: placeOfId(at).segment, slice: new KeySlice(data) };
    }
  }
}

/** A path, or with `prefix` the beginning of one. */
export interface SoughtPath {
  text: string;
  prefix: boolean;
}

/** `false`: the text is longer than a stored key, so rows found by it must be compared in full. */
export function isToldApart(text: string): boolean {
  return !isCut(text);
}

/** The paths of one segment that match. */
interface PathRange {
  /** Places of the paths, `[from, to)`. */
  from: number;
  to: number;
  /** Their postings among those of the segment, `[start, end)`. */
  start: number;
  end: number;
  slices: { from: number; to: number };
}

const nothing = { from: 0, to: 0, start: 0, end: 0 };

/** The rows whose path matches, in every segment of the span. */
export class PathLookup {
  readonly #sql: SqlStorage;
  readonly #ranges = new Map<number, PathRange>();
  readonly #groups: { from: number; to: number }[] = [];

  constructor(sql: SqlStorage, { text, prefix }: SoughtPath, span: SegmentSpan) {
    this.#sql = sql;
    const bounds = prefix ? prefixBounds(text) : { text: keyText(text), from: keyBytes(keyText(text)), to: null };
    for (const known of [{ first: SMALL_SLICE, bounds: [] }, ...knownBounds(sql)]) {
      const slices = slicesOfKey(known, bounds.text, prefix);
      this.#groups.push(slices);
      const starts = soughtIn(sql, slices.from, bounds.from, span);
      const ends = bounds.to === null ? null : soughtIn(sql, slices.to, bounds.to, span);
      for (const [segment, start] of starts) {
        const end = ends === null ? start.behind : (ends.get(segment)?.at ?? start.at);
        this.#ranges.set(segment, {
          from: start.at.place,
          to: end.place,
          start: start.at.posting,
          end: end.posting,
          slices,
        });
      }
    }
  }

  range(segment: number): PathRange {
    return this.#ranges.get(segment) ?? { ...nothing, slices: { from: 0, to: -1 } };
  }

  /** How many rows match, alone. */
  count(segment: number): number {
    const { start, end } = this.range(segment);
    return end - start;
  }

  /** The matching rows of one segment with what stands beside them, in the order of their paths. */
  postings(segment: number): Pick<Postings, 'rows' | 'classes'> {
    const range = this.range(segment);
    const rows: number[] = [];
    const classes: number[] = [];
    const span = { first: segment, last: segment };
    for (const { slice } of slicesBetween(this.#sql, 'path', range.slices.from, range.slices.to, span)) {
      const [from, to] = within(slice, range);
      const [rowOf, classOf] = [slice.column(0), slice.column(1)];
      for (let at = from; at < to; at++) {
        rows.push(rowOf[at] as number);
        classes.push(classOf[at] as number);
      }
    }
    return { rows: Uint16Array.from(rows), classes: Uint16Array.from(classes) };
  }

  /** How many matching rows have a class that passes, in all of these segments. `tables`: segment → 1 for each such class. */
  countPassing(tables: ReadonlyMap<number, Uint8Array>, span: SegmentSpan): number {
    let count = 0;
    for (const { from, to } of this.#groups) {
      for (const { segment, slice } of slicesBetween(this.#sql, 'path', from, to, span)) {
        const table = tables.get(segment);
        if (table === undefined) continue;
        const [start, end] = within(slice, this.range(segment));
        const classOf = slice.column(1);
        for (let at = start; at < end; at++) count += table[classOf[at] as number] as number;
      }
    }
    return count;
  }
}

function within(slice: KeySlice, { start, end }: PathRange): [from: number, to: number] {
  const { postings } = slice.before;
  return [Math.max(start - postings, 0), Math.min(end - postings, slice.postings)];
}

interface KeyPlace {
  place: number;
  posting: number;
}

interface Sought {
  at: KeyPlace;
  /** After the key, if it is held. */
  behind: KeyPlace;
}

/** Where each segment has this key, or would have it. */
function soughtIn(sql: SqlStorage, slice: number, wanted: Uint8Array, span: SegmentSpan): Map<number, Sought> {
  const found = new Map<number, Sought>();
  for (const { segment, slice: part } of slicesBetween(sql, 'path', slice, slice, span)) {
    // Of several parts, the last that does not start after the key.
    if (!found.has(segment) || !part.startsAfter(wanted)) found.set(segment, placed(part, part.seek(wanted)));
  }
  return found;
}

function placed({ before }: KeySlice, { isHeld, place, from, to }: SoughtKey): Sought {
  return {
    at: { place, posting: before.postings + from },
    behind: { place: isHeld ? place + 1 : place, posting: before.postings + to },
  };
}

/** Segments that have this key; for a cut key, segments that may have it. */
export function segmentsWithKey(sql: SqlStorage, field: Exclude<KeyField, 'path'>, text: string): number[] {
  const { last } = sql.exec<{ last: number }>('SELECT COALESCE(MAX(no), 0) AS last FROM segments').one();
  return new KeyLookup(sql, field, [text], { first: 0, last }).segments.sort((a, b) => a - b);
}
