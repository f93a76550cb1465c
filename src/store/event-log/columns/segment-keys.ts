/**
 * Which rows of sealed segments have a key: a session, an address, a network, a fired rule, a path. A segment's keys of
 * one field are dealt out over slices (`key-slice.ts`), and the same slice of all segments lies side by side in the
 * table `segment_keys`, so that a look-up over a whole log is one pass over a few kilobytes of each segment.
 *
 * Most fields are dealt out by a hash. Paths are dealt out by their order, so that those with a common beginning are in
 * one slice or in neighbours; the bounds between slices are learned from a segment and used until they fit badly.
 */
import { textHash } from '../../text-hash.ts';
import { type KeyRows, packSlice, type SliceStart } from './key-slice.ts';
import { keyBytes, storedKeyText } from './key-text.ts';
import { boundsFor, dropUnusedBounds, knownBounds } from './slice-bounds.ts';

/** The number of a field is never reused. `slices`: how many, or dealt out by order. */
export const keyFields = {
  jti: { no: 0, slices: 12 },
  ip: { no: 1, slices: 10 },
  asn: { no: 2, slices: 10 },
  rule: { no: 3, slices: 4 },
  path: { no: 4, slices: 'sorted' },
  user_account: { no: 5, slices: 4 },
} as const;
export type KeyField = keyof typeof keyFields;
/** A field whose keys are dealt out by a hash. */
export type HashedField = Exclude<KeyField, 'path'>;

/** Of the keys of a small segment. */
export const SMALL_SLICE = 0;
/** A segment with fewer rows has one slice of each field: it would cost more to write than a look-up saves. */
const SMALL_SEGMENT_ROWS = 2500;
const SEGMENTS_MAX = 2 ** 25;
const SLICES_MAX = 2 ** 18;
/** A slice that is longer than one value may be has several parts. */
const PARTS_MAX = 64;
const PART_MAX_BYTES = 1_000_000;

/** Row id of the first part. */
export function sliceId(field: KeyField, slice: number, segment: number): number {
  return ((keyFields[field].no * SLICES_MAX + slice) * SEGMENTS_MAX + segment) * PARTS_MAX;
}

export function segmentOfSlice(at: number): number {
  return Math.floor(at / PARTS_MAX) % SEGMENTS_MAX;
}

export function hashSlice(field: HashedField, key: string): number {
  return 1 + (textHash(key) % keyFields[field].slices);
}

type Rows = Map<string, number[]>;

/** Collects the keys of one segment, row by row. */
export class SegmentKeysBuilder {
  readonly #fields = new Map<KeyField, Rows>();

  add(field: KeyField, text: string, row: number): void {
    let keys = this.#fields.get(field);
    if (keys === undefined) this.#fields.set(field, (keys = new Map()));
    const key = storedKeyText(text);
    const rows = keys.get(key);
    if (rows === undefined) keys.set(key, [row]);
    else if (rows.at(-1) !== row) rows.push(row);
  }

  /** Runs inside the caller's transaction. `places`: by row, its place in a column; it is stored beside every key. */
  write(sql: SqlStorage, segment: { no: number; rows: number }, places: Uint16Array | null): void {
    const beside = places === null ? [] : [places];
    const paths = this.#fields.get('path');
    if (paths !== undefined) {
      const sorted = sortedKeys(paths);
      const placeOfPath = new Uint16Array(segment.rows);
      for (const [place, [, rows]] of sorted.entries()) for (const row of rows) placeOfPath[row] = place;
      this.#writeSorted(sql, segment, sorted, beside);
      beside.push(placeOfPath);
    }
    for (const [field, keys] of this.#fields) if (field !== 'path') writeHashed(sql, field, segment, keys, beside);
  }

  #writeSorted(
    sql: SqlStorage,
    { no, rows }: { no: number; rows: number },
    sorted: readonly [string, number[]][],
    beside: readonly Uint16Array[],
  ): void {
    const { first, bounds } = rows < SMALL_SEGMENT_ROWS ? { first: SMALL_SLICE, bounds: [] } : boundsFor(sql, sorted);
    const classes = beside[0] === undefined ? 0 : beside[0].reduce((most, one) => Math.max(most, one + 1), 0);
    const before = { places: 0, postings: 0, classes: new Uint32Array(classes) };
    const dealt: [string, number[]][][] = Array.from({ length: bounds.length + 1 }, () => []);
    let slice = 0;
    for (const entry of sorted) {
      while (slice < bounds.length && entry[0] >= (bounds[slice] as string)) slice++;
      dealt[slice]?.push(entry);
    }
    for (const [index, entries] of dealt.entries()) {
      writeSlice(sql, sliceId('path', first + index, no), entries, beside, before);
    }
  }
}

function sortedKeys(keys: Rows): [string, number[]][] {
  return [...keys].sort(([one], [other]) => (one < other ? -1 : 1));
}

const none = new Uint32Array(0);

function writeHashed(
  sql: SqlStorage,
  field: HashedField,
  { no, rows }: { no: number; rows: number },
  keys: Rows,
  beside: readonly Uint16Array[],
): void {
  const slices = new Map<number, [string, number[]][]>();
  for (const entry of sortedKeys(keys)) {
    const slice = rows < SMALL_SEGMENT_ROWS ? SMALL_SLICE : hashSlice(field, entry[0]);
    const held = slices.get(slice);
    if (held) held.push(entry);
    else slices.set(slice, [entry]);
  }
  for (const [slice, entries] of slices) {
    writeSlice(sql, sliceId(field, slice, no), entries, beside, { places: 0, postings: 0, classes: none });
  }
}

/** Moves `before` behind the slice. An empty slice is stored too: it says what lies before it. */
function writeSlice(
  sql: SqlStorage,
  at: number,
  entries: readonly [string, number[]][],
  beside: readonly Uint16Array[],
  before: SliceStart,
): void {
  let part: KeyRows[] = [];
  let bytes = 0;
  let no = 0;
  const close = (): void => {
    sql.exec('INSERT INTO segment_keys (at, data) VALUES (?, ?)', at + no, packSlice(part, beside, before));
    before.places += part.length;
    for (const [, rows] of part) {
      before.postings += rows.length;
      if (before.classes.length > 0) for (const row of rows) (before.classes[beside[0]?.[row] as number] as number)++;
    }
    no++;
    part = [];
    bytes = 0;
  };
  for (const [key, rows] of entries) {
    const encoded = keyBytes(key);
    part.push([encoded, rows]);
    bytes += encoded.length + rows.length * 2 * (1 + beside.length);
    if (bytes >= PART_MAX_BYTES) close();
  }
  if (part.length > 0 || no === 0) close();
}

export function dropKeys(sql: SqlStorage, segment: number): void {
  const drop = (field: KeyField, first: number, last: number): void => {
    for (let slice = first; slice <= last; slice++) {
      const at = sliceId(field, slice, segment);
      sql.exec('DELETE FROM segment_keys WHERE at BETWEEN ? AND ?', at, at + PARTS_MAX - 1);
    }
  };
  for (const [field, { slices }] of Object.entries(keyFields)) {
    drop(field as KeyField, SMALL_SLICE, slices === 'sorted' ? SMALL_SLICE : slices);
  }
  for (const { first, bounds } of knownBounds(sql)) drop('path', first, first + bounds.length);
}

/** Bounds whose segments have expired. */
export function dropOldBounds(sql: SqlStorage): void {
  dropUnusedBounds(sql, ({ first, bounds }) => {
    const [from, to] = [sliceId('path', first, 0), sliceId('path', first + bounds.length + 1, 0)];
    return sql.exec('SELECT 1 FROM segment_keys WHERE at >= ? AND at < ? LIMIT 1', from, to).toArray().length > 0;
  });
}
