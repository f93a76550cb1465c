/**
 * Runs of sealed captchas in an audit search. The rows of a run are sorted by time, so a window and a cursor are places
 * in it. The keys of its columns decide most conditions, and only rows of the page are built.
 */
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import { ColumnReader, eachPlaces } from '../columns/captcha-column-reader.ts';
import type { Passing, CaptchaRun } from '../columns/captcha-column-reader.ts';
import { byColumn } from '../captcha-condition.ts';
import type { CaptchaCondition } from '../captcha-condition.ts';
import { cheapestFirst, fieldTests } from '../columns/captcha-field-test.ts';
import type { FieldTest } from '../columns/captcha-field-test.ts';
import type { CaptchaGroup } from '../columns/captcha-row-group.ts';
import { groupAt, rowsBefore } from './captcha-runs.ts';
import type { PlacedGroup } from './captcha-runs.ts';

export interface PlannedSearch {
  /** All must pass. */
  byColumn: readonly FieldTest[];
  /** At least one of each must pass. */
  byRow: readonly FieldTest[][];
}

export function plannedSearch(conditions: readonly CaptchaCondition[]): PlannedSearch {
  const sorted = cheapestFirst(conditions);
  return {
    byColumn: sorted.filter(byColumn).flatMap(fieldTests),
    byRow: sorted.filter((condition) => !byColumn(condition)).map(fieldTests),
  };
}

interface RunScan {
  since: number;
  until: number;
  before: RowKey | null;
  limit: number;
  counts: boolean;
}

/** A run with rows that pass. */
export interface FoundRun {
  run: CaptchaRun;
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
 * The runs in which any row passes, in the given order. Keys alone decide most runs: no row has the value, all have it,
 * or how many have it. Rows are tested only for several conditions and at the edges of the window.
 */
export function foundRuns(
  sql: SqlStorage,
  runs: readonly CaptchaRun[],
  search: PlannedSearch,
  scan: RunScan,
): FoundRun[] {
  let left = runs.map((run) => inWindow(sql, run, scan)).filter(({ start, end }) => start < end);
  for (const test of search.byColumn) {
    const columns = new ColumnReader(
      sql,
      test.field,
      left.map(({ run }) => run),
    );
    left = left.filter((one) => {
      const passing = columns.passing(one.run, test);
      if (passing && passing.rows < one.run.rows) one.tests.push(passing);
      return passing !== null;
    });
  }
  const open = left.filter((one) => !isCounted(one, search, scan));
  markRows(sql, open);
  for (const one of open) {
    for (const conditions of search.byRow) strikeByRow(sql, one, conditions);
    one.count = one.marked?.reduce((sum, mark) => sum + mark, 0) ?? 0;
  }
  return left.filter(({ count }) => count > 0);
}

function inWindow(sql: SqlStorage, run: CaptchaRun, { since, until, before, counts }: RunScan): FoundRun {
  const start = rowsBefore(sql, run, { timestamp: since, id: '' });
  const windowEnd = rowsBefore(sql, run, { timestamp: until, id: '' });
  const pageEnd = before === null ? windowEnd : Math.min(windowEnd, rowsBefore(sql, run, before));
  return { run, start, end: counts ? windowEnd : pageEnd, pageEnd, tests: [], count: 0, marked: null };
}

/** Takes the count from the keys where they are enough. */
function isCounted(one: FoundRun, search: PlannedSearch, { counts }: RunScan): boolean {
  const { run, start, end, tests } = one;
  if (search.byRow.length > 0) return false;
  // Without a count, rows are tested only as the page needs them.
  if (!counts || tests.length === 0) one.count = end - start;
  else if (tests.length === 1 && end - start === run.rows) one.count = tests[0]?.rows ?? 0;
  else return false;
  return true;
}

/** Tests every row, one column at a time. */
export function markRows(sql: SqlStorage, open: readonly FoundRun[]): void {
  for (const one of open) one.marked = new Uint8Array(one.run.rows).fill(1, one.start, one.end);
  for (const field of new Set(open.flatMap(({ tests }) => tests.map((test) => test.field)))) {
    const asked = new Map<CaptchaRun, [FoundRun, Passing[]]>();
    for (const one of open) {
      const tests = one.tests.filter((test) => test.field === field);
      if (tests.length > 0) asked.set(one.run, [one, tests]);
    }
    eachPlaces(sql, field, [...asked.keys()], (run, places) => {
      const [one, tests] = asked.get(run) as [FoundRun, Passing[]];
      for (const { table } of tests) strike(one.marked as Uint8Array, places, table);
    });
  }
}

function strike(marked: Uint8Array, places: Uint8Array | Uint16Array, table: Uint8Array): void {
  for (let row = 0; row < marked.length; row += 1) {
    marked[row] = (marked[row] as number) & (table[places[row] as number] as number);
  }
}

/** The newest rows of the run that belong on the page. `page`: the rows already found, newest first. */
export function pageRows(sql: SqlStorage, one: FoundRun, page: readonly StoredRow[], limit: number): StoredRow[] {
  if (one.marked === null) markRows(sql, [one]);
  const { run, start, pageEnd, marked } = one;
  const rows: StoredRow[] = [];
  let placed: PlacedGroup | null = null;
  let newer = 0;
  for (let place = pageEnd - 1; place >= start; place -= 1) {
    if (marked?.[place] === 0) continue;
    if (placed === null || place < placed.first) placed = groupAt(sql, run, place);
    const row = placed.group.row(place - placed.first);
    while (newer < page.length && compareNewestFirst(page[newer] as StoredRow, row) < 0) newer += 1;
    if (newer + rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}

function strikeByRow(sql: SqlStorage, { run, marked }: FoundRun, tests: readonly FieldTest[]): void {
  if (marked === null) return;
  let place = marked.indexOf(1);
  while (place !== -1) {
    const { first, group } = groupAt(sql, run, place);
    const passing = passingRows(group, tests);
    for (let row = 0; row < group.rows; row += 1) if (passing[row] === 0) marked[first + row] = 0;
    place = marked.indexOf(1, first + group.rows);
  }
}

/** 1 for each row of the group that passes any of the tests. */
function passingRows(group: CaptchaGroup, tests: readonly FieldTest[]): Uint8Array {
  const passing = new Uint8Array(group.rows);
  // A condition on several fields: one test of the whole text rules out most groups.
  if (tests.length > 1 && !tests[0]?.mayPass(group.text)) return passing;
  for (const test of tests) {
    if (!test.mayPass(group.fieldText(test.field))) continue;
    const passes = group.textsOf(test.field).map((text) => test.passes(text));
    const indexes = group.indexesOf(test.field);
    for (const [row, place] of indexes.entries()) if (passes[place]) passing[row] = 1;
    if (!passing.includes(0)) break;
  }
  return passing;
}
