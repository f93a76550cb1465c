/**
 * Opens sealed blocks, each at most once, and keeps the rows that match. One R2 read costs more than the bytes it
 * returns, so neighbouring blocks are read together.
 */
import { fragmentsOf, matches } from '../row-filter.ts';
import type { RowFilter } from '../row-filter.ts';
import { logRecord } from '../log-record.ts';
import type { StoredRow } from '../log-row.ts';
import { UnreadableSegmentError } from '../parquet/byte-cursor.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import type { StreamSchema } from '../parquet/stream-schema.ts';
import type { BlockReference } from '../shard-rpc.ts';

/** R2 reads that are started together. A Worker has six connections, and the next read starts when one is free. */
const READS_AT_ONCE = 24;
/** The reader opens this many before it checks whether the page is full: about 1.5 MB. */
const BLOCKS_AT_ONCE = 32;
/** Bytes between two blocks that are read and discarded, because a second read would cost more. */
const GAP_MAX_BYTES = 32_768;

/** The block moved to another object or expired after the plan was made. */
export class StalePlanError extends Error {}

export class BlockReader {
  readonly #bucket: R2Bucket;
  readonly #schema: StreamSchema;
  readonly #filter: RowFilter;
  readonly #fragments: readonly string[];
  readonly #opened = new Map<string, StoredRow[]>();

  constructor(bucket: R2Bucket, stream: string, filter: RowFilter) {
    this.#bucket = bucket;
    this.#schema = schemaOf(stream);
    this.#filter = filter;
    this.#fragments = fragmentsOf(filter);
  }

  /** Matching rows of these blocks, in no particular order. */
  async rows(blocks: readonly BlockReference[]): Promise<StoredRow[]> {
    const unopened = blocks.filter((block) => !this.#opened.has(nameOf(block)));
    await Promise.all(readsFor(unopened).map((neighbours) => this.#read(neighbours)));
    return blocks.flatMap((block) => this.#opened.get(nameOf(block)) ?? []);
  }

  async #read(blocks: readonly BlockReference[]): Promise<void> {
    const start = Math.min(...blocks.map((block) => block.start));
    const end = Math.max(...blocks.map((block) => block.start + block.length));
    const object = (blocks[0] as BlockReference).object;
    const part = await this.#bucket
      .get(object, { range: { offset: start, length: end - start } })
      .catch(async (error) => {
        // R2 refuses a range behind the end of an object.
        const whole = await this.#bucket.head(object);
        if (whole === null || whole.size > start) throw error;
        throw new UnreadableSegmentError(`${object} cannot be read: it is cut off`, { cause: error });
      });
    if (!part) throw new StalePlanError(`${object} is gone`);
    const bytes = new Uint8Array(await part.arrayBuffer());
    for (const block of blocks) {
      const at = block.start - start;
      this.#opened.set(nameOf(block), this.#matching(this.#bodies(block, bytes.subarray(at, at + block.length))));
    }
  }

  #bodies(block: BlockReference, bytes: Uint8Array): string[] {
    try {
      return readRowGroup(this.#schema, bytes, block, block.lines);
    } catch (error) {
      if (!(error instanceof UnreadableSegmentError)) throw error;
      throw new UnreadableSegmentError(`${block.object} cannot be read: ${error.message}`, { cause: error });
    }
  }

  #matching(bodies: readonly string[]): StoredRow[] {
    const rows: StoredRow[] = [];
    for (const body of bodies) {
      if (!this.#fragments.every((fragment) => body.includes(fragment))) continue;
      const record = logRecord(body);
      if (matches(this.#filter, record)) rows.push({ id: record.id, timestamp: record.timestamp, body });
    }
    return rows;
  }
}

/** Blocks from `at` on: enough to hold `rows` matching rows, or as many as are opened at once. */
export function nextBlocks(blocks: readonly BlockReference[], at: number, rows: number): BlockReference[] {
  const taken: BlockReference[] = [];
  let reads = 0;
  let matching = 0;
  for (const block of blocks.slice(at, at + BLOCKS_AT_ONCE)) {
    const before = taken.at(-1);
    if (before === undefined || !areNeighbours(before, block)) reads++;
    if (reads > READS_AT_ONCE || matching >= Math.max(rows, 1)) break;
    taken.push(block);
    matching += block.matching;
  }
  return taken;
}

function readsFor(blocks: readonly BlockReference[]): BlockReference[][] {
  const reads: BlockReference[][] = [];
  for (const block of blocks) {
    const last = reads.at(-1);
    if (last && areNeighbours(last.at(-1) as BlockReference, block)) last.push(block);
    else reads.push([block]);
  }
  return reads;
}

/** Blocks are sorted newest first, so the next block lies before the last one in the object. */
function areNeighbours(newer: BlockReference, older: BlockReference): boolean {
  const gap = newer.start - older.start - older.length;
  return newer.object === older.object && gap >= 0 && gap <= GAP_MAX_BYTES;
}

function nameOf({ object, start }: BlockReference): string {
  return `${object} ${start}`;
}
