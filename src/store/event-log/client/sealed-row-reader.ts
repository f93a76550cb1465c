/**
 * Opens sealed row groups, each at most once, and keeps the rows that match. One R2 read costs more than the bytes it
 * returns, so neighbouring row groups are read together.
 */
import { fragmentsOf, matches } from '../row-filter.ts';
import type { RowFilter } from '../row-filter.ts';
import { logRecord } from '../log-record.ts';
import type { StoredRow } from '../log-row.ts';
import { UnreadableSegmentError } from '../parquet/byte-cursor.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import type { StreamSchema } from '../parquet/stream-schema.ts';
import type { RowGroupReference } from '../shard-rpc.ts';

/** R2 reads that are started together. A Worker has six connections, and the next read starts when one is free. */
const READS_AT_ONCE = 24;
/** The reader opens this many before it checks whether the page is full: about 1.5 MB. */
const ROW_GROUPS_AT_ONCE = 32;
/** Bytes between two row groups that are read and discarded, because a second read would cost more. */
const GAP_MAX_BYTES = 32_768;

/** The row group moved to another object or expired after the plan was made. */
export class StalePlanError extends Error {}

export class SealedRowReader {
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

  /** Matching rows of these row groups, in no particular order. */
  async rows(rowGroups: readonly RowGroupReference[]): Promise<StoredRow[]> {
    const unopened = rowGroups.filter((rowGroup) => !this.#opened.has(nameOf(rowGroup)));
    await Promise.all(readsFor(unopened).map((neighbours) => this.#read(neighbours)));
    return rowGroups.flatMap((rowGroup) => this.#opened.get(nameOf(rowGroup)) ?? []);
  }

  async #read(rowGroups: readonly RowGroupReference[]): Promise<void> {
    const start = Math.min(...rowGroups.map((rowGroup) => rowGroup.start));
    const end = Math.max(...rowGroups.map((rowGroup) => rowGroup.start + rowGroup.length));
    const object = (rowGroups[0] as RowGroupReference).object;
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
    for (const rowGroup of rowGroups) {
      const at = rowGroup.start - start;
      this.#opened.set(
        nameOf(rowGroup),
        this.#matching(this.#bodies(rowGroup, bytes.subarray(at, at + rowGroup.length))),
      );
    }
  }

  #bodies(rowGroup: RowGroupReference, bytes: Uint8Array): string[] {
    try {
      return readRowGroup(this.#schema, bytes, rowGroup, rowGroup.lines);
    } catch (error) {
      if (!(error instanceof UnreadableSegmentError)) throw error;
      throw new UnreadableSegmentError(`${rowGroup.object} cannot be read: ${error.message}`, { cause: error });
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

/** Row groups from `at` on: enough to hold `rows` matching rows, or as many as are opened at once. */
export function nextRowGroups(rowGroups: readonly RowGroupReference[], at: number, rows: number): RowGroupReference[] {
  const taken: RowGroupReference[] = [];
  let reads = 0;
  let matching = 0;
  for (const rowGroup of rowGroups.slice(at, at + ROW_GROUPS_AT_ONCE)) {
    const before = taken.at(-1);
    if (before === undefined || !areNeighbours(before, rowGroup)) reads++;
    if (reads > READS_AT_ONCE || matching >= Math.max(rows, 1)) break;
    taken.push(rowGroup);
    matching += rowGroup.matching;
  }
  return taken;
}

function readsFor(rowGroups: readonly RowGroupReference[]): RowGroupReference[][] {
  const reads: RowGroupReference[][] = [];
  for (const rowGroup of rowGroups) {
    const last = reads.at(-1);
    if (last && areNeighbours(last.at(-1) as RowGroupReference, rowGroup)) last.push(rowGroup);
    else reads.push([rowGroup]);
  }
  return reads;
}

/** Row groups are sorted newest first, so the next row group lies before the last one in the object. */
function areNeighbours(newer: RowGroupReference, older: RowGroupReference): boolean {
  const gap = newer.start - older.start - older.length;
  return newer.object === older.object && gap >= 0 && gap <= GAP_MAX_BYTES;
}

function nameOf({ object, start }: RowGroupReference): string {
  return `${object} ${start}`;
}
