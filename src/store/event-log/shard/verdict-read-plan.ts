/**
 * A shard's plan for a reader of verdicts: unsealed rows, the sealed row groups with rows of the page, and the exact number
 * of matches. Made in one synchronous step, so that unsealed and sealed rows neither overlap nor miss a row.
 */
import { timesOf } from '../columns/segment-columns.ts';
import { type SealedSegment, SegmentSearcher } from '../columns/segment-search.ts';
import { verdictSearch } from '../columns/verdict-columns.ts';
import { compareNewestFirst, newestOf, type RowKey } from '../log-row.ts';
import {
  PAGE_ROW_GROUPS_MAX,
  type ReadPlan,
  type PlannedTotal,
  type PlanRequest,
  type RowGroupReference,
} from '../shard-rpc.ts';
import type { HotKeys } from './hot-keys.ts';
import { hotRows } from './hot-query.ts';
import { readRowGroups } from './row-groups.ts';
import { segmentsBetween } from './segments.ts';

/** Row groups opened only to count `total`, for keys that are too long to be told apart: about 100 ms. */
export const COUNT_ROW_GROUPS_MAX = 80;

/** Row groups with late rows that lie across the cursor. A safety limit; real logs stay far below it. */
const ACROSS_ROW_GROUPS_MAX = 5000;

export function planRead(sql: SqlStorage, keys: HotKeys, request: PlanRequest): ReadPlan {
  const { filter, before, limit } = request;
  const search = verdictSearch(filter);
  const { since, until } = search;
  const anySegment = { after: null, last: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };
  const searcher = new SegmentSearcher(sql, search, segmentsBetween(sql, { since, until, ...anySegment }));
  const page = new PageRowGroups(sql, before, limit, search.isSure);
  const hot = hotRows(sql, keys, filter, before, limit);
  const total = request.wantTotal ? { counted: hot.count, open: [], openCut: false } : null;
  for (const found of searcher.found) {
    const { segment } = found;
    const isOnPage = page.wants(segment);
    if (total !== null && search.isSure && !isOnPage) total.counted += searcher.count(found);
    else if (isOnPage || (total !== null && !total.openCut)) {
      const rows = searcher.rows(found);
      if (isOnPage) page.add(segment, rows);
      if (total !== null) countLater(total, page, segment, rows, search.isSure);
    }
  }
  return { hot: hot.rows, ...page.rowGroups(), total };
}

function countLater(
  total: PlannedTotal,
  page: PageRowGroups,
  segment: SealedSegment,
  rows: Uint16Array,
  isSure: boolean,
): void {
  if (isSure) total.counted += rows.length;
  else {
    total.open.push(...page.rowGroupsOf(segment, rows));
    total.openCut ||= total.open.length > COUNT_ROW_GROUPS_MAX;
    total.open.length = Math.min(total.open.length, COUNT_ROW_GROUPS_MAX);
  }
}

/**
 * Chooses the sealed row groups that one page needs: those with matching rows, from the newest segment on, until the
 * page is certain to be full and no other segment overlaps it. Segments overlap in time because rows arrive late.
 */
class PageRowGroups {
  readonly #sql: SqlStorage;
  readonly #before: RowKey | null;
  readonly #limit: number;
  readonly #isSure: boolean;
  /** Row groups wholly older than the cursor, and row groups that lie across it. */
  #older: RowGroupReference[] = [];
  readonly #across: RowGroupReference[] = [];
  /** The rows found so far fill the page down to this time; `null`: it is not full yet. */
  #floor: number | null = null;

  constructor(sql: SqlStorage, before: RowKey | null, limit: number, isSure: boolean) {
    this.#sql = sql;
    this.#before = before;
    this.#limit = limit;
    this.#isSure = isSure;
  }

  /** Call it for segments from the newest on. */
  wants({ minTs, maxTs }: SealedSegment): boolean {
    if (this.#before !== null && minTs > this.#before.timestamp) return false;
    if (this.#floor !== null && maxTs < this.#floor) return false;
    return !this.#isCutAbove(maxTs);
  }

  /** There are more row groups above this time than may be opened. */
  #isCutAbove(timestamp: number): boolean {
    const last = this.#older[PAGE_ROW_GROUPS_MAX];
    return last !== undefined && last.maxTs > timestamp;
  }

  add(segment: SealedSegment, rows: Uint16Array): void {
    let times: readonly number[] | null = null;
    for (const { rowGroup, first } of this.#placed(segment, rows)) {
      if (this.#before === null || compareNewestFirst(this.#before, newestOf(rowGroup)) < 0) {
        this.#older.push(this.#newestLines(rowGroup, rowGroup.lines ?? []));
      } else if (rowGroup.minTs <= this.#before.timestamp && this.#across.length < ACROSS_ROW_GROUPS_MAX) {
        if (this.#isSure) times ??= timesOf(this.#sql, segment.no);
        this.#across.push(
          times === null ? rowGroup : this.#linesBefore(rowGroup, times.slice(first), this.#before.timestamp),
        );
      }
    }
    this.#older.sort((a, b) => compareNewestFirst(newestOf(a), newestOf(b)));
    this.#older.length = Math.min(this.#older.length, PAGE_ROW_GROUPS_MAX + 1);
    this.#lowerFloor();
  }

  /** No row of a row group is older than its oldest row, so enough row groups fill the page down to that time. */
  #lowerFloor(): void {
    if (!this.#isSure) return;
    let sure = 0;
    for (const rowGroup of this.#older.toSorted((a, b) => b.minTs - a.minTs)) {
      sure += rowGroup.matching;
      if (sure < this.#limit) continue;
      this.#floor = rowGroup.minTs;
      return;
    }
  }

  rowGroups(): { rowGroups: RowGroupReference[]; rowGroupsCut: boolean } {
    const floor = this.#floor ?? Number.NEGATIVE_INFINITY;
    const needed = [...this.#across, ...this.#older].filter(({ maxTs }) => maxTs >= floor);
    const across = needed.length - this.#older.filter(({ maxTs }) => maxTs >= floor).length;
    return {
      rowGroups: needed.slice(0, across + PAGE_ROW_GROUPS_MAX),
      rowGroupsCut: needed.length > across + PAGE_ROW_GROUPS_MAX,
    };
  }

  /** The row groups that hold these rows, which are in rising order, with their lines. */
  rowGroupsOf(segment: SealedSegment, rows: Uint16Array): RowGroupReference[] {
    return this.#placed(segment, rows).map(({ rowGroup }) => rowGroup);
  }

  /** With the number of each row group’s first row in the segment. */
  #placed(segment: SealedSegment, rows: Uint16Array): { rowGroup: RowGroupReference; first: number }[] {
    const rowGroups: { rowGroup: RowGroupReference; first: number }[] = [];
    let first = 0;
    let at = 0;
    for (const stored of rows.length === 0 ? [] : readRowGroups(this.#sql, segment.no)) {
      const end = first + stored.rows;
      const lines: number[] = [];
      for (; at < rows.length && (rows[at] as number) < end; at++) lines.push((rows[at] as number) - first);
      const rowGroup = { ...stored, object: segment.object, matching: lines.length, lines };
      if (lines.length > 0) rowGroups.push({ rowGroup, first });
      first = end;
    }
    return rowGroups;
  }

  /** Lines that can be older than the cursor: those of its millisecond are compared when they are read. */
  #linesBefore(rowGroup: RowGroupReference, times: readonly number[], moment: number): RowGroupReference {
    const lines = (rowGroup.lines ?? []).filter((line) => (times[line] as number) <= moment);
    const same = lines.filter((line) => times[line] === moment).length;
    return this.#newestLines(rowGroup, lines, same);
  }

  /** No page needs more than its limit of rows, and the newest lines of a row group come last. */
  #newestLines(rowGroup: RowGroupReference, lines: number[], more = 0): RowGroupReference {
    if (!this.#isSure) return rowGroup;
    const wanted = lines.slice(-(this.#limit + more));
    return { ...rowGroup, matching: wanted.length, lines: wanted };
  }
}
