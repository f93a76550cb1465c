/** Looks up keys in many sealed segments at once. */
import { KeySlice } from './key-slice.ts';
import { isCut, keyBytes, storedKeyText, prefixBounds } from './key-text.ts';
import { type HashedField, hashSlice, type KeyField, segmentOfSlice, sliceId, SMALL_SLICE } from './segment-keys.ts';
import { knownBounds, slicesOfKey } from './slice-bounds.ts';

/** Rows of a segment with a key, and what stands beside them, by posting. */
export interface Postings {
  /** Rising. */
  rows: Uint16Array;
  /** The place of its class; empty for captchas, which have no classes. */
  classes: Uint16Array;
  /** The place of its path; empty for captchas and for the postings of paths. */
  paths: Uint16Array;
}

/** Numbers of segments, inclusive. */
interface SegmentSpan {
  first: number;
  last: number;
}

const none = new Uint16Array(0);

/** The rows with any of several keys, in every segment of the span. */
export class KeyLookup {
  readonly #found = new Map<number, Postings[]>();

  constructor(sql: SqlStorage, field: HashedField, texts: readonly string[], span: SegmentSpan) {
    const bySlice = new Map<number, Uint8Array[]>([[SMALL_SLICE, []]]);
    for (const key of new Set(texts.map(storedKeyText))) {
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

interface SegmentSlice {
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
): Generator<SegmentSlice> {
  if (first > last) return;
  for (let no = from; no <= to; no++) {
    for (const { at, data } of sql.exec<{ at: number; data: ArrayBuffer }>(
      'SELECT at, data FROM segment_keys WHERE at >= ? AND at < ?',
      sliceId(field, no, first),
      sliceId(field, no, last + 1),
    )) {
      yield { segment: segmentOfSlice(at), slice: new KeySlice(data) };
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
  start: PathBound;
  end: PathBound;
  slices: { from: number; to: number };
}

/** A place among the sorted paths of a segment, and what lies before it. */
interface PathBound {
  place: number;
  posting: number;
  /** Postings with a class that passes. */
  passing: number;
}

/** The rows whose path matches, in every segment of the span. */
export class PathLookup {
  readonly #sql: SqlStorage;
  readonly #ranges = new Map<number, PathRange>();

  /** `tables`: by segment; by class, 1 for each that passes, or `null`: all pass. Other segments are left out. */
  constructor(
    sql: SqlStorage,
    { text, prefix }: SoughtPath,
    span: SegmentSpan,
    tables: ReadonlyMap<number, Uint8Array | null>,
  ) {
    this.#sql = sql;
    const key = storedKeyText(text);
    const bounds = prefix ? prefixBounds(text) : { text: key, from: keyBytes(key), to: null };
    for (const known of [{ first: SMALL_SLICE, bounds: [] }, ...knownBounds(sql)]) {
      const slices = slicesOfKey(known, bounds.text, prefix);
      const wanted = bounds.to === null ? [bounds.from] : [bounds.from, bounds.to];
      const inOne = slices.from === slices.to;
      const starts = soughtIn(sql, slices.from, inOne ? wanted : wanted.slice(0, 1), span, tables);
      const ends = inOne ? starts : soughtIn(sql, slices.to, wanted.slice(1), span, tables);
      for (const [segment, [start]] of starts) {
        const last = ends.get(segment)?.at(-1);
        if (!start || !last) continue;
        const end = bounds.to === null ? last.behind : last.at;
        if (end.place > start.at.place) this.#ranges.set(segment, { start: start.at, end, slices });
      }
    }
  }

  /** Places of the paths in the segment, `[from, to)`; `null`: none matches. */
  places(segment: number): { from: number; to: number } | null {
    const range = this.#ranges.get(segment);
    return range === undefined ? null : { from: range.start.place, to: range.end.place };
  }

  /** How many rows with a class that passes have such a path. */
  count(segment: number): number {
    const range = this.#ranges.get(segment);
    return range === undefined ? 0 : range.end.passing - range.start.passing;
  }

  /** These rows, and others of classes that do not pass, with their classes; in the order of their paths. */
  postings(segment: number): Postings {
    const range = this.#ranges.get(segment);
    const rows: number[] = [];
    const classes: number[] = [];
    if (range !== undefined) {
      const span = { first: segment, last: segment };
      for (const { slice } of slicesBetween(this.#sql, 'path', range.slices.from, range.slices.to, span)) {
        const { postings } = slice.before;
        const end = Math.min(range.end.posting - postings, slice.postings);
        const [rowOf, classOf] = [slice.column(0), slice.column(1)];
        for (let at = Math.max(range.start.posting - postings, 0); at < end; at++) {
          rows.push(rowOf[at] as number);
          classes.push(classOf[at] as number);
        }
      }
    }
    return { rows: Uint16Array.from(rows), classes: Uint16Array.from(classes), paths: none };
  }
}

interface Sought {
  at: PathBound;
  /** After the key, if it is held. */
  behind: PathBound;
}

/** Where each segment has these keys of one slice, or would have them. */
function soughtIn(
  sql: SqlStorage,
  no: number,
  wanted: readonly Uint8Array[],
  span: SegmentSpan,
  tables: ReadonlyMap<number, Uint8Array | null>,
): Map<number, Sought[]> {
  const found = new Map<number, Sought[]>();
  for (const { segment, slice } of slicesBetween(sql, 'path', no, no, span)) {
    const table = tables.get(segment);
    if (table === undefined) continue;
    const known = found.get(segment);
    // Of several parts, the last that does not start after the key.
    const sought = wanted.map((key, at) =>
      known !== undefined && slice.startsAfter(key) ? (known[at] as Sought) : soughtInSlice(slice, key, table),
    );
    found.set(segment, sought);
  }
  return found;
}

function soughtInSlice(slice: KeySlice, wanted: Uint8Array, table: Uint8Array | null): Sought {
  const { isHeld, place, from, to } = slice.seek(wanted);
  const { postings } = slice.before;
  const passing = passingBefore(slice, from, table);
  return {
    at: { place, posting: postings + from, passing },
    behind: {
      place: isHeld ? place + 1 : place,
      posting: postings + to,
      passing: isHeld ? passing + passingIn(slice, from, to, table) : passing,
    },
  };
}

function passingBefore(slice: KeySlice, end: number, table: Uint8Array | null): number {
  const { before } = slice;
  if (table === null) return before.postings + end;
  let count = 0;
  for (let place = 0; place < table.length; place++) if (table[place] === 1) count += before.classes[place] ?? 0;
  return count + passingIn(slice, 0, end, table);
}

function passingIn(slice: KeySlice, from: number, to: number, table: Uint8Array | null): number {
  if (table === null) return to - from;
  let count = 0;
  const classOf = slice.column(1);
  for (let at = from; at < to; at++) count += table[classOf[at] as number] as number;
  return count;
}

/** Segments with rows of this session, rising; for one whose key is cut, segments that may have some. */
export function segmentsOfSession(sql: SqlStorage, jti: string): number[] {
  const { last } = sql.exec<{ last: number }>('SELECT COALESCE(MAX(no), 0) AS last FROM segments').one();
  return new KeyLookup(sql, 'jti', [jti], { first: 0, last }).segments.sort((a, b) => a - b);
}
