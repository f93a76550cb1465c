/**
 * Opens sealed row groups, each at most once, and keeps the rows that match. One R2 read costs more than the bytes it
 * returns, so row groups that lie near each other are read together.
 */
import { fragmentsOf, matches, type RowFilter } from '../row-filter.ts';
import { logRecord } from '../log-record.ts';
import type { StoredRow } from '../log-row.ts';
import { UnreadableSegmentError } from '../parquet/byte-cursor.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import type { StreamSchema } from '../parquet/stream-schema.ts';
import type { RowGroupReference } from '../shard-rpc.ts';

/** A Worker has six connections. Another read starts when one of these has ended. */
const READS_AT_ONCE = 6;
/** Bytes between two row groups that are read and discarded, because a second read would take longer. */
const GAP_MAX_BYTES = 262_144;
/** One read returns no more, unless a single row group is larger. Six of them fit into a Worker's memory many times. */
const READ_MAX_BYTES = 1_048_576;

/** The row group moved to another object or expired after the plan was made. */
export class StalePlanError extends Error {}

export class SealedRowReader {
  readonly #bucket: R2Bucket;
  readonly #schema: StreamSchema;
  readonly #filter: RowFilter;
  readonly #fragments: readonly string[];
  /** How many rows of an opened row group match. */
  readonly #matching = new Map<string, number>();

  constructor(bucket: R2Bucket, stream: string, filter: RowFilter) {
    this.#bucket = bucket;
    this.#schema = schemaOf(stream);
    this.#filter = filter;
    this.#fragments = fragmentsOf(filter);
  }

  /** Matching rows of row groups that one read returns, in no particular order. */
  async rows(rowGroups: SealedRead): Promise<StoredRow[]> {
    const bytes = await this.#read(rowGroups);
    return rowGroups.flatMap((rowGroup, at) => {
      const rows = this.#matchingRows(this.#bodies(rowGroup, bytes[at] as Uint8Array));
      this.#matching.set(nameOf(rowGroup), rows.length);
      return rows;
    });
  }

  /** How many rows of these row groups match. Those that were opened before are not opened again. */
  async count(rowGroups: readonly RowGroupReference[]): Promise<number> {
    const unopened = rowGroups.filter((rowGroup) => !this.#matching.has(nameOf(rowGroup)));
    let at = 0;
    await inWindow(() => {
      const read = readFrom(unopened, at, Number.POSITIVE_INFINITY);
      at += read?.length ?? 0;
      return read && this.rows(read);
    });
    return rowGroups.reduce((sum, rowGroup) => sum + (this.#matching.get(nameOf(rowGroup)) ?? 0), 0);
  }

  /** The bytes of each of these row groups. */
  async #read(rowGroups: SealedRead): Promise<Uint8Array[]> {
    const start = Math.min(...rowGroups.map((rowGroup) => rowGroup.start));
    const end = Math.max(...rowGroups.map((rowGroup) => rowGroup.start + rowGroup.length));
    const [{ object }] = rowGroups;
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
    return rowGroups.map((rowGroup) => bytes.subarray(rowGroup.start - start).subarray(0, rowGroup.length));
  }

  #bodies(rowGroup: RowGroupReference, bytes: Uint8Array): string[] {
    try {
      return readRowGroup(this.#schema, bytes, rowGroup, rowGroup.lines);
    } catch (error) {
      if (!(error instanceof UnreadableSegmentError)) throw error;
      throw new UnreadableSegmentError(`${rowGroup.object} cannot be read: ${error.message}`, { cause: error });
    }
  }

  #matchingRows(bodies: readonly string[]): StoredRow[] {
    const rows: StoredRow[] = [];
    for (const body of bodies) {
      if (!this.#fragments.every((fragment) => body.includes(fragment))) continue;
      const record = logRecord(body);
      if (matches(this.#filter, record)) rows.push({ id: record.id, timestamp: record.timestamp, body });
    }
    return rows;
  }
}

/** Row groups of one object that one read returns. */
export type SealedRead = readonly [RowGroupReference, ...RowGroupReference[]];

/**
 * The row group at `at` and those after it that one read returns too, as long as they are needed to hold `rows` matching
 * rows. Row groups are sorted newest first. `null` at the end.
 */
export function readFrom(rowGroups: readonly RowGroupReference[], at: number, rows: number): SealedRead | null {
  const newest = rowGroups[at];
  if (newest === undefined) return null;
  const read: [RowGroupReference, ...RowGroupReference[]] = [newest];
  let { matching } = newest;
  for (let next = at + 1; next < rowGroups.length && matching < rows; next++) {
    const older = rowGroups[next] as RowGroupReference;
    if (!isNear(read, older)) break;
    read.push(older);
    matching += older.matching;
  }
  return read;
}

/** The next row group lies before the last one in the object. */
function isNear(read: SealedRead, older: RowGroupReference): boolean {
  const [newest] = read;
  const last = read.at(-1) as RowGroupReference;
  const gap = last.start - older.start - older.length;
  const length = newest.start + newest.length - older.start;
  return newest.object === older.object && gap >= 0 && gap <= GAP_MAX_BYTES && length <= READ_MAX_BYTES;
}

/**
 * Keeps a few reads going. `start` begins one, or returns `null` when there is none to begin now. It is asked again
 * whenever a read has ended, until none is left.
 */
export async function inWindow(start: () => Promise<unknown> | null): Promise<void> {
  const open = new Set<Promise<unknown>>();
  for (;;) {
    while (open.size < READS_AT_ONCE) {
      const read = start();
      if (read === null) break;
      const tracked: Promise<unknown> = read.finally(() => open.delete(tracked));
      open.add(tracked);
    }
    if (open.size === 0) return;
    await Promise.race(open);
  }
}

function nameOf({ object, start }: RowGroupReference): string {
  return `${object} ${start}`;
}
