/**
 * Applies a filter to a sealed segment: which rows match, by keys and columns alone. `row-filter.ts` applies the same
 * filter to records and `hot-query.ts` to unsealed rows; a test compares the three.
 */
import type { RowFilter } from '../row-filter.ts';
import { rowsOfPaths, rowsWithin, SegmentClasses } from '../columns/verdict-segment-columns.ts';
import type { SomeRows } from '../columns/verdict-segment-columns.ts';
import { isToldApart, KeyLookup, pathPlaces } from '../columns/segment-keys.ts';
import type { KeyKind, SoughtPath } from '../columns/segment-keys.ts';

export interface SealedSegment {
  no: number;
  object: string;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

export class SegmentMatcher {
  readonly #sql: SqlStorage;
  readonly #filter: RowFilter;
  readonly #keys: KeyLookup[];
  readonly #path: SoughtPath | null;
  readonly #hasClasses: boolean;
  /** `false`: keys and columns alone do not tell the rows apart, so the rows found must be compared in full. */
  readonly isSure: boolean;

  constructor(sql: SqlStorage, filter: RowFilter) {
    this.#sql = sql;
    this.#filter = filter;
    const keys = soughtKeys(filter);
    this.#keys = keys.map(([kind, texts]) => new KeyLookup(sql, kind, texts));
    // Every path starts with the empty text.
    this.#path = filter.path?.prefix && filter.path.text === '' ? null : filter.path;
    const { outcomes, sources, devices, bots, proofs, minRulesFired } = filter;
    this.#hasClasses = [outcomes, sources, devices, bots, proofs].some((list) => list !== null) || minRulesFired > 0;
    this.isSure =
      filter.id === null && [...keys.flatMap(([, texts]) => texts), this.#path?.text ?? ''].every(isToldApart);
  }

  count(segment: SealedSegment): number {
    const hasKeys = this.#keys.length > 0 || this.#path !== null;
    if (hasKeys || !this.#isWithin(segment)) return this.rows(segment).length;
    return this.#hasClasses ? new SegmentClasses(this.#sql, segment.no, this.#filter).count : segment.rows;
  }

  /** Row numbers in rising order: oldest first. */
  rows(segment: SealedSegment): number[] {
    const { since, until } = this.#filter;
    const run = this.#isWithin(segment)
      ? { from: 0, to: segment.rows }
      : rowsWithin(this.#sql, segment.no, since, until);
    let found: SomeRows = run;
    for (const key of this.#keys) {
      const having = key.rows(segment.no);
      found = 'from' in found ? having.filter((row) => row >= run.from && row < run.to) : inBoth(found, having);
      if (found.length === 0) return [];
    }
    if (this.#path !== null) {
      found = rowsOfPaths(this.#sql, segment.no, segment.rows, found, pathPlaces(this.#sql, segment.no, this.#path));
    }
    if (this.#hasClasses) return new SegmentClasses(this.#sql, segment.no, this.#filter).among(found);
    return 'from' in found ? Array.from({ length: run.to - run.from }, (_, at) => run.from + at) : [...found];
  }

  #isWithin({ minTs, maxTs }: SealedSegment): boolean {
    return minTs >= this.#filter.since && maxTs < this.#filter.until;
  }
}

/** Keys that find the fewest rows come first: when one finds nothing, the others are skipped. */
function soughtKeys({ jti, ip, firedRules, asns }: RowFilter): [KeyKind, readonly string[]][] {
  const sought: [KeyKind, readonly string[]][] = [];
  if (jti !== null) sought.push(['jti', [jti]]);
  if (ip !== null) sought.push(['ip', [ip]]);
  if (asns) sought.push(['asn', asns.map(String)]);
  if (firedRules) sought.push(['rule', firedRules]);
  return sought;
}

/** Both lists are in rising order. */
function inBoth(one: readonly number[], other: readonly number[]): number[] {
  const both: number[] = [];
  let at = 0;
  for (const row of one) {
    while (at < other.length && (other[at] as number) < row) at++;
    if (other[at] === row) both.push(row);
  }
  return both;
}
