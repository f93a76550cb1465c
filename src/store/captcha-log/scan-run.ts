/**
 * One run of sealed captchas under an audit search. Its rows are in order, so a window and a cursor are
 * places in it; each criterion strikes rows out by one column, and only rows of the page are put together.
 */
import { compareNewestFirst } from '../verdict-log/row.ts';
import type { RowKey, StoredRow } from '../verdict-log/row.ts';
import type { CaptchaColumn } from './columns.ts';
import { byColumn, cheapestFirst, fieldTests } from './conditions.ts';
import type { CaptchaCondition, FieldTest } from './conditions.ts';
import type { CaptchaGroup } from './row-group.ts';
import { columnOf, groupAt, isRuledOut, rowsBefore } from './runs.ts';
import type { CaptchaRun, PlacedGroup } from './runs.ts';

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

/** `page`: the newest rows known already, newest first; `null`: none of this run's belong on the page. */
export function scanRun(
  sql: SqlStorage,
  run: CaptchaRun,
  search: PlannedSearch,
  { since, until, before, limit, counts }: RunScan,
  page: readonly StoredRow[] | null,
): { counted: number; rows: StoredRow[] } {
  const start = rowsBefore(sql, run, { timestamp: since, id: '' });
  const end = rowsBefore(sql, run, { timestamp: until, id: '' });
  const pageEnd = before === null ? end : Math.min(end, rowsBefore(sql, run, before));
  const marked = markedRows(sql, run, search, start, counts ? end : pageEnd);
  if (marked === null) return { counted: 0, rows: [] };
  let counted = 0;
  if (counts) for (const mark of marked) counted += mark;
  const rows: StoredRow[] = [];
  if (page === null) return { counted, rows };
  let placed: PlacedGroup | null = null;
  let newer = 0;
  for (let place = pageEnd - 1; place >= start; place -= 1) {
    if (marked[place] === 0) continue;
    if (placed === null || place < placed.first) placed = groupAt(sql, run, place);
    const row = placed.group.row(place - placed.first);
    while (newer < page.length && compareNewestFirst(page[newer] as StoredRow, row) < 0) newer += 1;
    if (newer + rows.length >= limit) break;
    rows.push(row);
  }
  return { counted, rows };
}

/** One for each row from `start` to before `end` that passes, zero for the others; `null`: none does. */
function markedRows(
  sql: SqlStorage,
  run: CaptchaRun,
  search: PlannedSearch,
  start: number,
  end: number,
): Uint8Array | null {
  if (start >= end) return null;
  const marked = new Uint8Array(run.rows).fill(1, start, end);
  for (const test of search.byColumn) {
    if (test.only !== null && isRuledOut(sql, run, test.field, test.only)) return null;
    if (!strike(marked, columnOf(sql, run, test.field), test, start, end)) return null;
  }
  if (search.byRow.length > 0) strikeByRow(sql, run, search.byRow, marked, end);
  return marked.includes(1) ? marked : null;
}

/** @returns `false`: no row is left. */
function strike(marked: Uint8Array, column: CaptchaColumn, test: FieldTest, start: number, end: number): boolean {
  const { only } = test;
  if (only === null && !test.mayPass(column.text)) return false;
  const wanted = only === null ? -1 : column.placeOf(only);
  if (only !== null && wanted === -1) return false;
  const passes = only === null ? column.texts.map((text) => test.passes(text)) : [];
  const { indexes } = column;
  let left = false;
  for (let row = start; row < end; row += 1) {
    if (marked[row] === 0) continue;
    const place = indexes[row] as number;
    if (only === null ? passes[place] : place === wanted) left = true;
    else marked[row] = 0;
  }
  return left;
}

function strikeByRow(
  sql: SqlStorage,
  run: CaptchaRun,
  conditions: readonly FieldTest[][],
  marked: Uint8Array,
  end: number,
): void {
  let place = marked.indexOf(1);
  while (place !== -1 && place < end) {
    const { first, group } = groupAt(sql, run, place);
    for (const tests of conditions) {
      const passing = passingRows(group, tests);
      for (let row = 0; row < group.rows; row += 1) if (passing[row] === 0) marked[first + row] = 0;
    }
    place = marked.indexOf(1, first + group.rows);
  }
}

/** One for each row of the group that passes any of the tests. */
function passingRows(group: CaptchaGroup, tests: readonly FieldTest[]): Uint8Array {
  const passing = new Uint8Array(group.rows);
  // A condition on many fields: one look at all of them rules most groups out.
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
