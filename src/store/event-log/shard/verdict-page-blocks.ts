/**
 * Chooses the sealed blocks that one page needs: those with matching rows, from the newest segment on, until the page
 * is certain to be full and no other segment overlaps it. Segments overlap in time because rows arrive late.
 */
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey } from '../log-row.ts';
import { timesOf } from '../columns/segment-columns.ts';
import { readRowGroups } from './row-groups.ts';
import type { SealedSegment } from './verdict-segment-match.ts';
import { PAGE_BLOCKS_MAX } from '../shard-rpc.ts';
import type { BlockReference } from '../shard-rpc.ts';

/** Blocks with late rows that lie across the cursor. A safety limit; real logs stay far below it. */
const ACROSS_BLOCKS_MAX = 5000;

export class PageBlocks {
  readonly #sql: SqlStorage;
  readonly #before: RowKey | null;
  readonly #limit: number;
  readonly #isSure: boolean;
  /** Blocks wholly older than the cursor, and blocks that lie across it. */
  #older: BlockReference[] = [];
  readonly #across: BlockReference[] = [];
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

  /** There are more blocks above this time than may be opened. */
  #isCutAbove(timestamp: number): boolean {
    const last = this.#older[PAGE_BLOCKS_MAX];
    return last !== undefined && last.maxTs > timestamp;
  }

  add(segment: SealedSegment, rows: readonly number[]): void {
    let times: readonly number[] | null = null;
    for (const { block, first } of this.#placed(segment, rows)) {
      if (this.#before === null || compareNewestFirst(this.#before, newestOf(block)) < 0) {
        this.#older.push(this.#newestLines(block, block.lines ?? []));
      } else if (block.minTs <= this.#before.timestamp && this.#across.length < ACROSS_BLOCKS_MAX) {
        if (this.#isSure) times ??= timesOf(this.#sql, segment.no);
        this.#across.push(
          times === null ? block : this.#linesBefore(block, times.slice(first), this.#before.timestamp),
        );
      }
    }
    this.#older.sort((a, b) => compareNewestFirst(newestOf(a), newestOf(b)));
    this.#older.length = Math.min(this.#older.length, PAGE_BLOCKS_MAX + 1);
    this.#lowerFloor();
  }

  /** No row of a block is older than its oldest row, so enough blocks fill the page down to that time. */
  #lowerFloor(): void {
    if (!this.#isSure) return;
    let sure = 0;
    for (const block of this.#older.toSorted((a, b) => b.minTs - a.minTs)) {
      sure += block.matching;
      if (sure < this.#limit) continue;
      this.#floor = block.minTs;
      return;
    }
  }

  blocks(): { blocks: BlockReference[]; blocksCut: boolean } {
    const floor = this.#floor ?? Number.NEGATIVE_INFINITY;
    const needed = [...this.#across, ...this.#older].filter(({ maxTs }) => maxTs >= floor);
    const across = needed.length - this.#older.filter(({ maxTs }) => maxTs >= floor).length;
    return {
      blocks: needed.slice(0, across + PAGE_BLOCKS_MAX),
      blocksCut: needed.length > across + PAGE_BLOCKS_MAX,
    };
  }

  /** The blocks that hold these rows, which are in rising order, with their lines. */
  blocksOf(segment: SealedSegment, rows: readonly number[]): BlockReference[] {
    return this.#placed(segment, rows).map(({ block }) => block);
  }

  /** With the number of each block's first row in the segment. */
  #placed(segment: SealedSegment, rows: readonly number[]): { block: BlockReference; first: number }[] {
    const blocks: { block: BlockReference; first: number }[] = [];
    let first = 0;
    let at = 0;
    for (const group of rows.length === 0 ? [] : readRowGroups(this.#sql, segment.no)) {
      const end = first + group.rows;
      const lines: number[] = [];
      for (; at < rows.length && (rows[at] as number) < end; at++) lines.push((rows[at] as number) - first);
      const block = { ...group, object: segment.object, matching: lines.length, lines };
      if (lines.length > 0) blocks.push({ block, first });
      first = end;
    }
    return blocks;
  }

  /** Lines that can be older than the cursor: those of its millisecond are compared when they are read. */
  #linesBefore(block: BlockReference, times: readonly number[], moment: number): BlockReference {
    const lines = (block.lines ?? []).filter((line) => (times[line] as number) <= moment);
    const same = lines.filter((line) => times[line] === moment).length;
    return this.#newestLines(block, lines, same);
  }

  /** No page needs more than its limit of rows, and the newest lines of a block come last. */
  #newestLines(block: BlockReference, lines: number[], more = 0): BlockReference {
    if (!this.#isSure) return block;
    const wanted = lines.slice(-(this.#limit + more));
    return { ...block, matching: wanted.length, lines: wanted };
  }
}

function newestOf(block: BlockReference): RowKey {
  return { timestamp: block.maxTs, id: block.maxId };
}
