/**
 * Chooses the sealed blocks that one page needs: those with matching rows, from the newest segment on, until the page
 * is certain to be full and no other segment overlaps it. Segments overlap in time because rows arrive late.
 */
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey } from '../log-row.ts';
import { BLOCK_ROWS } from '../segment-block.ts';
import type { SealedSegment } from './verdict-segment-match.ts';
import { PAGE_BLOCKS_MAX } from '../shard-rpc.ts';
import type { BlockReference } from '../shard-rpc.ts';

/** Blocks with late rows that lie across the cursor. A safety limit; real logs stay far below it. */
const ACROSS_BLOCKS_MAX = 5000;
/** For more lines of a block than this, listing them costs more than it saves. */
const LINES_NAMED_MAX = 100;

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
    for (const block of this.blocksOf(segment, rows)) {
      if (this.#before === null || compareNewestFirst(this.#before, newestOf(block)) < 0) {
        this.#older.push(block);
      } else if (block.minTs <= this.#before.timestamp && this.#across.length < ACROSS_BLOCKS_MAX) {
        this.#across.push(block);
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
      blocks: needed.slice(0, across + PAGE_BLOCKS_MAX).map(named),
      blocksCut: needed.length > across + PAGE_BLOCKS_MAX,
    };
  }

  /** The blocks that hold these rows, with their lines. */
  blocksOf(segment: SealedSegment, rows: readonly number[]): BlockReference[] {
    const lines = new Map<number, number[]>();
    for (const row of rows) {
      const no = Math.floor(row / BLOCK_ROWS);
      const known = lines.get(no);
      if (known) known.push(row % BLOCK_ROWS);
      else lines.set(no, [row % BLOCK_ROWS]);
    }
    if (lines.size === 0) return [];
    return this.#sql
      .exec<BlockRow>(
        `SELECT no, start, length, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM blocks WHERE segment = ?`,
        segment.no,
      )
      .toArray()
      .filter(({ no }) => lines.has(no))
      .map(({ no, ...block }) => {
        const matching = lines.get(no) as number[];
        return { ...block, object: segment.object, matching: matching.length, lines: matching };
      });
  }
}

interface BlockRow extends Record<string, SqlStorageValue> {
  no: number;
  start: number;
  length: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

function named(block: BlockReference): BlockReference {
  return block.lines !== null && block.lines.length > LINES_NAMED_MAX ? { ...block, lines: null } : block;
}

function newestOf(block: BlockReference): RowKey {
  return { timestamp: block.maxTs, id: block.maxId };
}
