/**
 * Applies a filter to sealed segments: which rows match, by keys and columns alone. What a look-up needs of many
 * segments is read at once. `row-filter.ts` applies the same filter to records and `hot-query.ts` to unsealed rows; a
 * test compares the three.
 */
import type { RowFilter } from '../row-filter.ts';
import { passingRows, passTable } from '../columns/field-test.ts';
import {
  isToldApart,
  KeyLookup,
  PathLookup,
  type Postings,
  type SegmentSpan,
  type SoughtPath,
} from '../columns/key-lookup.ts';
import { eachKeys, placesOf, timesBefore, timesOf } from '../columns/segment-columns.ts';
import type { KeyField } from '../columns/segment-keys.ts';
import { CLASS_COLUMN, classTest } from '../columns/verdict-fields.ts';

export interface SealedSegment {
  no: number;
  object: string;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

/** The classes of one segment that pass. */
interface PassingClasses {
  /** By place: 1 or 0. */
  table: Uint8Array;
  /** How many rows of the segment have one of them. */
  rows: number;
}

export class SegmentMatcher {
  readonly #sql: SqlStorage;
  readonly #filter: RowFilter;
  readonly #keys: readonly KeyLookup[];
  readonly #path: PathLookup | null;
  /** By segment; `null`: the filter has no condition on classes. */
  readonly #classes: ReadonlyMap<number, PassingClasses> | null;
  /** `false`: keys and columns alone do not tell the rows apart, so the rows found must be compared in full. */
  readonly isSure: boolean;

  /** `segments`: all that will be asked for. */
  constructor(sql: SqlStorage, filter: RowFilter, segments: readonly SealedSegment[]) {
    this.#sql = sql;
    this.#filter = filter;
    const keys = soughtKeys(filter);
    // Each condition is looked up only where the ones before it have found rows.
    let span = spanOf(segments.map(({ no }) => no));
    this.#keys = keys.map(([field, texts]) => {
      const lookup = new KeyLookup(sql, field, texts, span);
      span = spanOf(lookup.segments);
      return lookup;
    });
    const path = soughtPath(filter);
    this.#classes = this.#passingClasses(segments.filter(({ no }) => no >= span.first && no <= span.last));
    const tables = this.#classes && new Map([...this.#classes].map(([segment, { table }]) => [segment, table]));
    this.#path = path && new PathLookup(sql, path, span, tables);
    const isIdWanted = filter.id !== null || filter.shortId !== null;
    this.isSure = !isIdWanted && [...keys.flatMap(([, texts]) => texts), path?.text ?? ''].every(isToldApart);
  }

  count(segment: SealedSegment): number {
    if (this.#keys.length > 0 || !this.#isWithin(segment)) return this.rows(segment).length;
    return this.#countInAllTime(segment);
  }

  /** Without the keys. */
  #countInAllTime({ no, rows }: SealedSegment): number {
    if (this.#path !== null) return this.#path.count(no);
    return this.#classes === null ? rows : (this.#classes.get(no)?.rows ?? 0);
  }

  /** Row numbers in rising order: oldest first. */
  rows(segment: SealedSegment): number[] {
    if (this.#countInAllTime(segment) === 0) return [];
    const found = this.#rowsInAllTime(segment);
    if (found.length === 0 || this.#isWithin(segment)) return found;
    const times = timesOf(this.#sql, segment.no);
    const [from, to] = [timesBefore(times, this.#filter.since), timesBefore(times, this.#filter.until)];
    return found.filter((row) => row >= from && row < to);
  }

  #rowsInAllTime(segment: SealedSegment): number[] {
    const classes = this.#classes?.get(segment.no)?.table;
    if (this.#keys.length > 0) return this.#rowsOfKeys(segment.no, classes);
    if (this.#path !== null) {
      const { rows, classes: classOf } = this.#path.postings(segment.no);
      return [...rows].filter((_, at) => !classes || classes[classOf[at] as number] === 1).sort((a, b) => a - b);
    }
    const all = Array.from({ length: segment.rows }, (_, row) => row);
    if (!classes) return all;
    const places = placesOf(this.#sql, CLASS_COLUMN, segment);
    return all.filter((row) => classes[places[row] as number] === 1);
  }

  #rowsOfKeys(segment: number, classes: Uint8Array | undefined): number[] {
    const path = this.#path?.places(segment);
    const [first, ...others] = this.#keys.map((key) => key.of(segment));
    if (!first || others.includes(null)) return [];
    const found: number[] = [];
    for (const [at, row] of first.rows.entries()) {
      const place = first.paths[at] as number;
      if (path && (place < path.from || place >= path.to)) continue;
      if (classes && classes[first.classes[at] as number] !== 1) continue;
      found.push(row);
    }
    return others.reduce<number[]>((rows, other) => inBoth(rows, (other as Postings).rows), found);
  }

  /** Without the segments in which no class passes. */
  #passingClasses(segments: readonly SealedSegment[]): Map<number, PassingClasses> | null {
    const test = classTest(this.#filter);
    if (test === null) return null;
    const passing = new Map<number, PassingClasses>();
    const nos = segments.map(({ no }) => no);
    eachKeys(this.#sql, CLASS_COLUMN, nos, (segment, keys) => {
      const table = passTable(test, keys.text);
      if (table !== null) passing.set(segment, { table, rows: passingRows(table, keys.counts) });
    });
    return passing;
  }

  #isWithin({ minTs, maxTs }: SealedSegment): boolean {
    return minTs >= this.#filter.since && maxTs < this.#filter.until;
  }
}

function spanOf(nos: readonly number[]): SegmentSpan {
  return { first: Math.min(...nos, Number.MAX_SAFE_INTEGER), last: Math.max(...nos, -1) };
}

/** Keys that find the fewest rows come first: only their rows are looked at. */
function soughtKeys({ jti, ip, firedRules, asns }: RowFilter): [Exclude<KeyField, 'path'>, readonly string[]][] {
  const sought: [Exclude<KeyField, 'path'>, readonly string[]][] = [];
  if (jti !== null) sought.push(['jti', [jti]]);
  if (ip !== null) sought.push(['ip', [ip]]);
  if (asns) sought.push(['asn', asns.map(String)]);
  if (firedRules) sought.push(['rule', firedRules]);
  return sought;
}

/** Every path starts with the empty text. */
function soughtPath({ path }: RowFilter): SoughtPath | null {
  return path?.prefix && path.text === '' ? null : path;
}

/** Both lists are in rising order. */
function inBoth(one: readonly number[], other: Uint16Array): number[] {
  const both: number[] = [];
  let at = 0;
  for (const row of one) {
    while (at < other.length && (other[at] as number) < row) at++;
    if (other[at] === row) both.push(row);
  }
  return both;
}
