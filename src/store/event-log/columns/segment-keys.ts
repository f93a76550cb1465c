/**
 * Which rows of a sealed segment have a key (session, address, network, path, fired rule). A look-up reads a small
 * range of keys per segment and returns row numbers, so that rows are counted and combined with other conditions before
 * any block is opened. Paths are numerous and searched by prefix, so each row stores the place of its path instead, and
 * a prefix is a range of places.
 */
import { compareKey, cutPrefix, isCut, keyBytes, keyText, packKeyChunks, visitKeys } from './key-postings.ts';

/** The position of a kind in this list is its number in the table and is never reused. */
export const keyKinds = ['jti', 'ip', 'asn', 'path', 'rule'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** For more keys than this, one statement reads all of a segment's keys between the first and the last. */
const SOUGHT_ONE_BY_ONE_MAX = 8;
/** Sorts after every byte of a key. */
const BEHIND_ALL = 0xff;

/** Collects the keys of one segment, row by row. */
export class SegmentKeysBuilder {
  readonly #kinds = keyKinds.map(() => new Map<string, number[]>());

  add(kind: KeyKind, text: string, row: number): void {
    const keys = this.#kinds[keyKinds.indexOf(kind)] as Map<string, number[]>;
    const key = keyText(text);
    const rows = keys.get(key);
    if (rows === undefined) keys.set(key, [row]);
    else if (rows.at(-1) !== row) rows.push(row);
  }

  /**
   * Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. Returns for every
   * row the place of its path among the segment's paths.
   */
  write(sql: SqlStorage, segment: number): number[] {
    dropKeys(sql, segment);
    const places: number[] = [];
    for (const [no, keys] of this.#kinds.entries()) {
      const sorted = [...keys].sort(([one], [other]) => (one < other ? -1 : 1));
      if (keyKinds[no] === 'path') {
        for (const [place, [, rows]] of sorted.entries()) for (const row of rows) places[row] = place;
      }
      const chunks = packKeyChunks(keyKinds[no] === 'path' ? sorted.map(([key]) => [key, []]) : sorted);
      for (const { first, data } of chunks) {
        sql.exec('INSERT INTO segment_keys (kind, segment, first, data) VALUES (?, ?, ?, ?)', no, segment, first, data);
      }
    }
    return places;
  }
}

export function dropKeys(sql: SqlStorage, segment: number): void {
  for (const no of keyKinds.keys()) sql.exec('DELETE FROM segment_keys WHERE kind = ? AND segment = ?', no, segment);
}

function rowsIn(chunk: Uint8Array, wanted: Uint8Array): number[] {
  let found: number[] = [];
  visitKeys(chunk, (key, length, rows) => {
    const order = compareKey(key, length, wanted);
    if (order === 0) found = rows();
    return order < 0;
  });
  return found;
}

/** The only chunk that can hold the key. */
function chunkOf(sql: SqlStorage, kind: KeyKind, segment: number, wanted: Uint8Array): Uint8Array | null {
  const [chunk] = sql.exec<{ data: ArrayBuffer }>(
    'SELECT data FROM segment_keys WHERE kind = ? AND segment = ? AND first <= ? ORDER BY first DESC LIMIT 1',
    keyKinds.indexOf(kind),
    segment,
    wanted,
  );
  return chunk ? new Uint8Array(chunk.data) : null;
}

/**
 * Finds the rows with any of several keys in one segment after another. The chunks of all segments are read at once.
 */
export class KeyLookup {
  readonly #sql: SqlStorage;
  readonly #kind: KeyKind;
  /** In rising order. */
  readonly #wanted: readonly Uint8Array[];
  /** For each key the only chunk that can hold it, by segment; `null`: there are too many keys. */
  readonly #chunks: { wanted: Uint8Array; bySegment: Map<number, Uint8Array> }[] | null;

  constructor(sql: SqlStorage, kind: KeyKind, texts: readonly string[]) {
    this.#sql = sql;
    this.#kind = kind;
    this.#wanted = [...new Set(texts.map(keyText))].sort().map(keyBytes);
    this.#chunks =
      this.#wanted.length > SOUGHT_ONE_BY_ONE_MAX
        ? null
        : this.#wanted.map((wanted) => ({ wanted, bySegment: chunksOf(sql, kind, wanted) }));
  }

  rows(segment: number): number[] {
    if (this.#chunks === null) return rowsBetween(this.#sql, this.#kind, segment, this.#wanted);
    return joined(
      this.#chunks.map(({ wanted, bySegment }) => {
        const chunk = bySegment.get(segment);
        return chunk ? rowsIn(chunk, wanted) : [];
      }),
    );
  }
}

function chunksOf(sql: SqlStorage, kind: KeyKind, wanted: Uint8Array): Map<number, Uint8Array> {
  const chunks = new Map<number, Uint8Array>();
  for (const { segment, data } of sql.exec<{ segment: number; data: ArrayBuffer | null }>(
    `SELECT no AS segment, (SELECT data FROM segment_keys WHERE kind = ?1 AND segment = no AND first <= ?2
       ORDER BY first DESC LIMIT 1) AS data FROM segments WHERE state = 'sealed'`,
    keyKinds.indexOf(kind),
    wanted,
  )) {
    if (data !== null) chunks.set(segment, new Uint8Array(data));
  }
  return chunks;
}

/** `wanted` is in rising order. Reads every chunk that may hold one of them. */
function rowsBetween(sql: SqlStorage, kind: KeyKind, segment: number, wanted: readonly Uint8Array[]): number[] {
  const found: number[][] = [];
  let next = 0;
  for (const { data } of sql.exec<{ data: ArrayBuffer }>(
    `SELECT data FROM segment_keys WHERE kind = ?1 AND segment = ?2 AND first <= ?4 AND first >= COALESCE(
       (SELECT MAX(first) FROM segment_keys WHERE kind = ?1 AND segment = ?2 AND first <= ?3), ?3) ORDER BY first`,
    keyKinds.indexOf(kind),
    segment,
    wanted[0],
    wanted.at(-1),
  )) {
    visitKeys(new Uint8Array(data), (key, length, rows) => {
      while (next < wanted.length && compareKey(key, length, wanted[next] as Uint8Array) > 0) next++;
      if (next < wanted.length && compareKey(key, length, wanted[next] as Uint8Array) === 0) found.push(rows());
      return next < wanted.length;
    });
  }
  return joined(found);
}

function joined(lists: readonly number[][]): number[] {
  if (lists.length <= 1) return lists[0] ?? [];
  return [...new Set(lists.flat())].sort((a, b) => a - b);
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

/** The places of the paths that match, `[from, to)`. */
export function pathPlaces(sql: SqlStorage, segment: number, { text, prefix }: SoughtPath): [number, number] {
  if (!prefix) {
    const wanted = keyBytes(keyText(text));
    const [place, isHeld] = placeOf(sql, segment, wanted);
    return [place, isHeld ? place + 1 : place];
  }
  const start = keyBytes(isCut(text) ? cutPrefix(text) : text);
  return [placeOf(sql, segment, start)[0], placeOf(sql, segment, Uint8Array.of(...start, BEHIND_ALL))[0]];
}

/** The place of a path, or the place it would have. */
function placeOf(sql: SqlStorage, segment: number, wanted: Uint8Array): [place: number, isHeld: boolean] {
  const chunk = chunkOf(sql, 'path', segment, wanted);
  if (!chunk) return [0, false];
  let isHeld = false;
  const place = visitKeys(chunk, (key, length) => {
    const order = compareKey(key, length, wanted);
    isHeld ||= order === 0;
    return order < 0;
  });
  return [place, isHeld];
}

/** Segments that have this key; for a cut key, segments that may have it. */
export function segmentsWithKey(sql: SqlStorage, kind: KeyKind, text: string): number[] {
  const lookup = new KeyLookup(sql, kind, [text]);
  return sql
    .exec<{ no: number }>("SELECT no FROM segments WHERE state = 'sealed'")
    .toArray()
    .map(({ no }) => no)
    .filter((no) => lookup.rows(no).length > 0);
}
