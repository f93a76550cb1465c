/**
 * The search of sealed segments, of verdicts and captchas alike, in three steps. Keys say which segments have rows at all.
 * Dictionaries of columns say which of these have rows that pass, and mostly how many. Only then are rows tested, one
 * column at a time.
 *
 * Four words say where something is. A row is the number of a record in its segment, oldest first. A place is the number
 * of a text in a dictionary: in that of a column, or among the sorted paths of a segment. A posting is one row of one
 * key. A line is the number of a row in what is read as a whole: a row group, or a batch.
 */
import type { Places } from './column.ts';
import { type FieldTest, passingRows, passTable } from './field-test.ts';
import { KeyLookup, PathLookup, type Postings, type SoughtPath } from './key-lookup.ts';
import { eachKeys, eachPlaces, timesBefore, timesOf } from './segment-columns.ts';
import type { HashedField } from './segment-keys.ts';

export interface SealedSegment {
  no: number;
  object: string;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

export interface ColumnTest {
  /** Number of the column. */
  column: number;
  test: FieldTest;
  /** The places of this column stand beside every key, so that rows found by keys need no column. */
  isBesideKeys?: boolean;
}

export interface SegmentSearch {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** Rows have one of the texts of each key. The key that finds the fewest rows comes first. */
  keys: readonly { field: HashedField; texts: readonly string[] }[];
  path: SoughtPath | null;
  /** Rows pass all of these. The test that rules out the most rows comes first. */
  all: readonly ColumnTest[];
  /** Rows pass at least one of each list. */
  any: readonly (readonly ColumnTest[])[];
}

/** A segment in which rows may match. */
export interface FoundSegment {
  segment: SealedSegment;
  /** The rows in the window: from `start` on, and before `end`. */
  start: number;
  end: number;
  /** By key of the search. */
  postings: Postings[];
  /** By test of the search that all rows must pass. */
  passing: Passing[];
  /** Rows that match, rising; `null`: not tested yet. */
  matching: Uint16Array | null;
}

interface Passing {
  /** By place: 1 or 0. */
  table: Uint8Array;
  /** How many rows of the segment pass. */
  rows: number;
}

export class SegmentSearcher {
  readonly #sql: SqlStorage;
  readonly #search: SegmentSearch;
  readonly #path: PathLookup | null = null;
  /** In the order of the given segments. */
  readonly found: readonly FoundSegment[];

  constructor(sql: SqlStorage, search: SegmentSearch, segments: readonly SealedSegment[]) {
    this.#sql = sql;
    this.#search = search;
    let found = segments.map((segment): FoundSegment => {
      return { segment, start: 0, end: segment.rows, postings: [], passing: [], matching: null };
    });
    // Each condition is looked up only where the ones before it have found rows.
    for (const { field, texts } of search.keys) {
      const lookup = new KeyLookup(sql, field, texts, spanOf(found));
      found = found.filter(({ segment, postings }) => {
        const known = lookup.of(segment.no);
        if (known) postings.push(known);
        return known !== null;
      });
    }
    for (const test of search.all) {
      const passing = passingIn(sql, test, found);
      found = found.filter((one) => {
        const known = passing.get(one.segment.no);
        if (known) one.passing.push(known);
        return known !== undefined;
      });
    }
    if (search.path !== null) {
      const tables = new Map(found.map((one) => [one.segment.no, this.#tableBeside(one)]));
      const path = new PathLookup(sql, search.path, spanOf(found), tables);
      found = found.filter(({ segment }) => path.count(segment.no) > 0);
      this.#path = path;
    }
    for (const one of found) this.#setWindow(one);
    this.found = found.filter(({ start, end }) => start < end);
  }

  /** Of the test of the column whose places stand beside the keys; `null`: there is none. */
  #tableBeside({ passing }: FoundSegment): Uint8Array | null {
    return passing[this.#search.all.findIndex(({ isBesideKeys }) => isBesideKeys)]?.table ?? null;
  }

  #setWindow(one: FoundSegment): void {
    const { no, minTs, maxTs } = one.segment;
    const { since, until } = this.#search;
    if (minTs >= since && maxTs < until) return;
    const times = timesOf(this.#sql, no);
    one.start = timesBefore(times, since);
    one.end = timesBefore(times, until);
  }

  /** How many rows of the segment match. */
  count(one: FoundSegment): number {
    const untested = this.#countUntested(one);
    if (untested !== null) return untested;
    const { length } = this.rows(one);
    // A count over many segments keeps the rows of none.
    one.matching = null;
    return length;
  }

  /** How many rows of all segments match. */
  countAll(): number {
    this.test(this.found.filter((one) => this.#countUntested(one) === null));
    return this.found.reduce((sum, one) => sum + this.count(one), 0);
  }

  /** From dictionaries alone; `null`: the rows must be tested. */
  #countUntested({ segment, start, end, passing }: FoundSegment): number | null {
    if (this.#search.keys.length > 0 || this.#search.any.length > 0) return null;
    const [only, ...others] = passing.filter(({ rows }) => rows < segment.rows);
    if (this.#path === null && only === undefined) return end - start;
    if (end - start < segment.rows || others.length > 0) return null;
    return this.#path?.count(segment.no) ?? only?.rows ?? null;
  }

  /** The rows of the segment that match, rising: oldest first. */
  rows(one: FoundSegment): Uint16Array {
    if (one.matching === null) this.test([one]);
    return one.matching ?? range(one.start, one.end);
  }

  /** Tests the rows of several segments in one pass over each column, which is faster than one after another. */
  test(open: readonly FoundSegment[]): void {
    for (const one of open) one.matching = this.#rowsByKeys(one);
    for (const [at, { column, isBesideKeys }] of this.#search.all.entries()) {
      const asked = new Map<number, { rows: number; one: FoundSegment; table: Uint8Array }>();
      for (const one of open) {
        const { segment, matching } = one;
        const { table, rows } = one.passing[at] as Passing;
        if (rows === segment.rows || (isBesideKeys && matching !== null)) continue;
        asked.set(segment.no, { rows: segment.rows, one, table });
      }
      eachPlaces(this.#sql, column, asked, (no, places) => {
        const { one, table } = asked.get(no) as { one: FoundSegment; table: Uint8Array };
        keepPassing(one, places, table);
      });
    }
    for (const tests of this.#search.any) this.#keepWhereAny(open, tests);
  }

  /** `null`: the search has neither keys nor a path. */
  #rowsByKeys(one: FoundSegment): Uint16Array | null {
    const { segment, start, end } = one;
    const [first, ...others] = one.postings;
    const found = first ?? this.#path?.postings(segment.no);
    if (found === undefined) return null;
    const table = this.#tableBeside(one);
    const path = first && this.#path?.places(segment.no);
    const rows = new Uint16Array(found.rows.length);
    let kept = 0;
    for (let posting = 0; posting < found.rows.length; posting++) {
      const row = found.rows[posting] as number;
      if (row < start || row >= end) continue;
      const place = found.paths[posting] as number;
      if (path && (place < path.from || place >= path.to)) continue;
      if (table && table[found.classes[posting] as number] !== 1) continue;
      rows[kept++] = row;
    }
    const matching = rows.subarray(0, kept);
    // The postings of paths are in the order of the paths.
    if (first === undefined) return matching.sort();
    return others.reduce<Uint16Array>((both, other) => inBoth(both, other.rows), matching);
  }

  #keepWhereAny(open: readonly FoundSegment[], tests: readonly ColumnTest[]): void {
    const marks = new Map(open.map(({ segment: { no, rows } }) => [no, new Uint8Array(rows)]));
    for (const test of tests) {
      const asked = new Map<number, { rows: number; table: Uint8Array }>();
      for (const [no, { table }] of passingIn(this.#sql, test, open)) {
        asked.set(no, { rows: marks.get(no)?.length ?? 0, table });
      }
      eachPlaces(this.#sql, test.column, asked, (no, places) => {
        const [marked, table] = [marks.get(no) as Uint8Array, asked.get(no)?.table as Uint8Array];
        for (const [row, place] of places.entries()) if (table[place] === 1) marked[row] = 1;
      });
    }
    for (const one of open) {
      keepPassing(one, marks.get(one.segment.no) as Uint8Array, MARKED);
    }
  }
}

/** By segment; without those in which no row passes. */
function passingIn(
  sql: SqlStorage,
  { column, test }: ColumnTest,
  among: readonly FoundSegment[],
): Map<number, Passing> {
  const passing = new Map<number, Passing>();
  const nos = among.map(({ segment }) => segment.no);
  eachKeys(sql, column, nos, (no, keys) => {
    const table = passTable(test, keys.text);
    if (table !== null) passing.set(no, { table, rows: passingRows(table, keys.counts) });
  });
  return passing;
}

/** A mark is the place of its row in a column of two texts, of which the second passes. */
const MARKED = Uint8Array.of(0, 1);

function keepPassing(one: FoundSegment, places: Places, table: Uint8Array): void {
  const rows = one.matching ?? range(one.start, one.end);
  let kept = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    if (table[places[row] as number] === 1) rows[kept++] = row;
  }
  one.matching = rows.subarray(0, kept);
}

function range(start: number, end: number): Uint16Array {
  const rows = new Uint16Array(end - start);
  for (let at = 0; at < rows.length; at++) rows[at] = start + at;
  return rows;
}

function spanOf(found: readonly FoundSegment[]): { first: number; last: number } {
  let [first, last] = [Number.MAX_SAFE_INTEGER, -1];
  for (const { segment } of found) [first, last] = [Math.min(first, segment.no), Math.max(last, segment.no)];
  return { first, last };
}

/** Both lists rise. */
function inBoth(one: Uint16Array, other: Uint16Array): Uint16Array {
  let at = 0;
  return one.filter((row) => {
    while (at < other.length && (other[at] as number) < row) at++;
    return other[at] === row;
  });
}
