/**
 * Chooses the sealed row groups that one page needs: those with matching rows, from the newest segment on, until the
 * page is certain to be full and no other segment overlaps it. Segments overlap in time because rows arrive late.
 */
import { compareNewestFirst, type RowKey } from '../log-row.ts';
import { timesOf } from '../columns/segment-columns.ts';
import { readRowGroups } from './row-groups.ts';
import type { SealedSegment } from './verdict-segment-match.ts';
import { PAGE_ROW_GROUPS_MAX, type RowGroupReference } from '../shard-rpc.ts';

/** Row groups with late rows that lie across the cursor. A safety limit; real logs stay far below it. */
const ACROSS_ROW_GROUPS_MAX = 5000;

export class PageRowGroups {
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

  add(segment: SealedSegment, rows: readonly number[]): void {
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
  rowGroupsOf(segment: SealedSegment, rows: readonly number[]): RowGroupReference[] {
    return this.#placed(segment, rows).map(({ rowGroup }) => rowGroup);
  }

  /** With the number of each row group’s first row in the segment. */
  #placed(segment: SealedSegment, rows: readonly number[]): { rowGroup: RowGroupReference; first: number }[] {
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

function newestOf(rowGroup: RowGroupReference): RowKey {
  return { timestamp: rowGroup.maxTs, id: rowGroup.maxId };
}
