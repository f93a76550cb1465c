/**
 * Sealed segments in an audit search. The keys of their columns decide most conditions, and only rows of the page are
 * built.
 */
import { compareNewestFirst, type RowKey, type StoredRow } from '../log-row.ts';
import type { CaptchaCondition } from '../captcha-condition.ts';
import { cheapestFirst, type FieldTest, fieldTests } from '../columns/captcha-field-test.ts';
import type { Places } from '../columns/column.ts';
import { passTable, passingRows } from '../columns/field-test.ts';
import { KeyLookup, isToldApart, type Postings } from '../columns/key-lookup.ts';
import { eachKeys, eachPlaces } from '../columns/segment-columns.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import { CaptchaRows, columnNo, rowsBefore, type CaptchaSegment } from './captcha-segments.ts';

export interface PlannedSearch {
  /** All must pass. */
  all: readonly FieldTest[];
  /** At least one of each must pass. */
  any: readonly FieldTest[][];
}

export function plannedSearch(conditions: readonly CaptchaCondition[]): PlannedSearch {
  const sorted = cheapestFirst(conditions);
  return {
    all: sorted.filter((condition) => !('fields' in condition)).flatMap(fieldTests),
    any: sorted.filter((condition) => 'fields' in condition).map(fieldTests),
  };
}

interface SegmentScan {
  since: number;
  until: number;
  before: RowKey | null;
  counts: boolean;
}

/** Which rows of a segment pass a test: those with a passing text, or the listed ones. */
type Passing = { field: CaptchaField; table: Uint8Array; count: number } | { rows: Uint16Array; count: number };

/** A segment with rows that pass. */
export interface FoundSegment {
  segment: CaptchaSegment;
  /** Places of the rows in the window. Rows before `pageEnd` are also older than the cursor. */
  start: number;
  end: number;
  pageEnd: number;
  /** Tests that rows must still pass; empty when the keys show that all rows pass. */
  tests: Passing[];
  /** How many rows pass. */
  count: number;
  /** 1 for each row that passes; `null`: the rows are not tested yet. */
  marked: Uint8Array | null;
}

/**
 * The segments in which any row passes, in the given order. Keys alone decide most of them: no row has the value, all
 * have it, or how many have it. Rows are tested only for several conditions and at the edges of the window.
 */
export function foundSegments(
  sql: SqlStorage,
  segments: readonly CaptchaSegment[],
  search: PlannedSearch,
  scan: SegmentScan,
): FoundSegment[] {
  let left = segments.map((segment) => inWindow(sql, segment, scan)).filter(({ start, end }) => start < end);
  for (const test of search.all) {
    const passing = passingOf(sql, left, test);
    left = left.filter((one) => {
      const found = passing.get(one.segment.no);
      if (found && found.count < one.segment.rows) one.tests.push(found);
      return found !== undefined;
    });
  }
  const open = left.filter((one) => !isCounted(one, search, scan));
  markRows(sql, open);
  for (const tests of search.any) strikeUnlessAny(sql, open, tests);
  for (const one of open) one.count = one.marked?.reduce((sum, mark) => sum + mark, 0) ?? 0;
  return left.filter(({ count }) => count > 0);
}

function inWindow(
  sql: SqlStorage,
  segment: CaptchaSegment,
  { since, until, before, counts }: SegmentScan,
): FoundSegment {
  const start = rowsBefore(sql, segment, { timestamp: since, id: '' });
  const windowEnd = rowsBefore(sql, segment, { timestamp: until, id: '' });
  const pageEnd = before === null ? windowEnd : Math.min(windowEnd, rowsBefore(sql, segment, before));
  return { segment, start, end: counts ? windowEnd : pageEnd, pageEnd, tests: [], count: 0, marked: null };
}

/** The only value that passes, of a field that captchas are looked up by. */
function soughtKey({ field, only }: FieldTest): { field: 'ip' | 'user_account'; text: string } | null {
  if (only === null || (field !== 'ip' && field !== 'user_account')) return null;
  return { field, text: JSON.parse(only) as string };
}

/** By segment; without those in which no row passes. */
function passingOf(sql: SqlStorage, among: readonly FoundSegment[], test: FieldTest): Map<number, Passing> {
  const passing = new Map<number, Passing>();
  let nos = among.map(({ segment }) => segment.no);
  const key = soughtKey(test);
  if (key !== null) {
    const lookup = new KeyLookup(sql, key.field, [key.text], { first: Math.min(...nos), last: Math.max(...nos) });
    nos = nos.filter((no) => lookup.of(no) !== null);
    if (isToldApart(key.text)) {
      for (const no of nos) {
        const { rows } = lookup.of(no) as Postings;
        passing.set(no, { rows, count: rows.length });
      }
      return passing;
    }
  }
  eachKeys(sql, columnNo(test.field), nos, (segment, keys) => {
    const table = passTable(test, keys.text);
    if (table !== null) passing.set(segment, { field: test.field, table, count: passingRows(table, keys.counts) });
  });
  return passing;
}

/** Takes the count from the keys where they are enough. */
function isCounted(one: FoundSegment, search: PlannedSearch, { counts }: SegmentScan): boolean {
  const { segment, start, end, tests } = one;
  if (search.any.length > 0) return false;
  // Without a count, rows are tested only as the page needs them.
  if (!counts || tests.length === 0) one.count = end - start;
  else if (tests.length === 1 && end - start === segment.rows) one.count = tests[0]?.count ?? 0;
  else return false;
  return true;
}

interface Asked {
  one: FoundSegment;
  table: Uint8Array;
  rows: number;
}

/** Tests every row, one column at a time. */
export function markRows(sql: SqlStorage, open: readonly FoundSegment[]): void {
  const byField = new Map<CaptchaField, Map<number, Asked>>();
  for (const one of open) {
    const { no, rows } = one.segment;
    one.marked = new Uint8Array(rows).fill(1, one.start, one.end);
    for (const test of one.tests) {
      if ('rows' in test) keepOnly(one.marked, test.rows);
      else {
        const asked = byField.get(test.field) ?? new Map<number, Asked>();
        asked.set(no, { one, table: bothTables(asked.get(no)?.table, test.table), rows });
        byField.set(test.field, asked);
      }
    }
  }
  for (const [field, asked] of byField) {
    eachPlaces(sql, columnNo(field), asked, (no, places) => {
      const { one, table } = asked.get(no) as Asked;
      strike(one.marked as Uint8Array, places, table);
    });
  }
}

/** Two conditions on one field. */
function bothTables(one: Uint8Array | undefined, other: Uint8Array): Uint8Array {
  return one ? other.map((passes, place) => passes & (one[place] as number)) : other;
}

function strike(marked: Uint8Array, places: Places, table: Uint8Array): void {
  for (let row = 0; row < marked.length; row += 1) {
    marked[row] = (marked[row] as number) & (table[places[row] as number] as number);
  }
}

function keepOnly(marked: Uint8Array, rows: Uint16Array): void {
  const kept = new Uint8Array(marked.length);
  for (const row of rows) kept[row] = marked[row] as number;
  marked.set(kept);
}

/** Strikes the rows in which no field passes its test. */
function strikeUnlessAny(sql: SqlStorage, open: readonly FoundSegment[], tests: readonly FieldTest[]): void {
  const passing = new Map(open.map(({ segment: { no, rows } }) => [no, new Uint8Array(rows)]));
  for (const test of tests) {
    const tables = new Map<number, { rows: number; table: Uint8Array }>();
    eachKeys(sql, columnNo(test.field), [...passing.keys()], (no, keys) => {
      const table = passTable(test, keys.text);
      if (table !== null) tables.set(no, { rows: passing.get(no)?.length ?? 0, table });
    });
    eachPlaces(sql, columnNo(test.field), tables, (no, places) => {
      const [marks, table] = [passing.get(no) as Uint8Array, tables.get(no)?.table as Uint8Array];
      for (const [row, place] of places.entries()) if (table[place] === 1) marks[row] = 1;
    });
  }
  for (const { segment, marked } of open) {
    const marks = passing.get(segment.no) as Uint8Array;
    for (const [row, mark] of marks.entries()) if (mark === 0 && marked) marked[row] = 0;
  }
}

/** The newest rows of the segment that belong on the page. `page`: the rows already found, newest first. */
export function pageRows(sql: SqlStorage, one: FoundSegment, page: readonly StoredRow[], limit: number): StoredRow[] {
  if (one.marked === null) markRows(sql, [one]);
  const { segment, start, pageEnd, marked } = one;
  const rows: StoredRow[] = [];
  let sealed: CaptchaRows | null = null;
  let newer = 0;
  for (let place = pageEnd - 1; place >= start; place -= 1) {
    if (marked?.[place] === 0) continue;
    sealed ??= new CaptchaRows(sql, segment);
    const row = sealed.row(place);
    while (newer < page.length && compareNewestFirst(page[newer] as StoredRow, row) < 0) newer += 1;
    if (newer + rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}
