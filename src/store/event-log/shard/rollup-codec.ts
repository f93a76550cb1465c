/**
 * Rollup buckets as bytes. For each value, in rising order of its id: the difference to the id before, and three counts,
 * all as LEB128. Packed, because one table row per value would cost a written row per verdict. Minutes are packed once
 * more, ten to a row: for each minute with counts its number among the ten (one byte), the length of its bucket (four), and
 * the bucket.
 */
import { NumberReader, NumberWriter } from '../packed-numbers.ts';
import type { Counts } from '../shard-rpc.ts';

/** Minutes of one row. An hour is a whole number of rows, so that hours expire row by row. */
export const PACKED_MINUTES = 10;
const MINUTE_HEAD_BYTES = 5;

export type IdCounts = Map<number, Counts>;

export function encodeCounts(counts: ReadonlyMap<number, Readonly<Counts>>): Uint8Array {
  const writer = new NumberWriter();
  let previous = 0;
  for (const id of [...counts.keys()].sort((a, b) => a - b)) {
    const [allow, challenge, block] = counts.get(id) as Counts;
    if (allow <= 0 && challenge <= 0 && block <= 0) continue;
    writer.write(id - previous);
    previous = id;
    for (const count of [allow, challenge, block]) writer.write(Math.max(count, 0));
  }
  return writer.bytes();
}

/** Packs the buckets of the ten minutes from `first` on. */
export function encodeMinutes(first: number, minutes: ReadonlyMap<number, IdCounts>): Uint8Array {
  const writer = new NumberWriter();
  for (let offset = 0; offset < PACKED_MINUTES; offset++) {
    const bucket = encodeCounts(minutes.get(first + offset) ?? new Map<number, Counts>());
    if (bucket.length === 0) continue;
    const head = new DataView(new ArrayBuffer(MINUTE_HEAD_BYTES));
    head.setUint8(0, offset);
    head.setUint32(1, bucket.length);
    writer.append(new Uint8Array(head.buffer));
    writer.append(bucket);
  }
  return writer.bytes();
}

/** Receives one value's counts as three numbers, without an object: a week has millions of them. */
export type VisitCounts = (id: number, allow: number, challenge: number, block: number) => void;

/** Calls `visit` for every value of a packed bucket, in rising order of its id. */
export function decodeCounts(data: ArrayBuffer | Uint8Array, visit: VisitCounts): void {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const reader = new NumberReader(bytes);
  let id = 0;
  while (reader.at < bytes.length) {
    id += reader.next();
    visit(id, reader.next(), reader.next(), reader.next());
  }
}

/** Calls `visit` with the bucket of every minute of a packed row, in order of time. */
export function splitMinutes(
  first: number,
  data: ArrayBuffer,
  visit: (minute: number, bucket: Uint8Array) => void,
): void {
  const view = new DataView(data);
  let at = 0;
  while (at < view.byteLength) {
    const length = view.getUint32(at + 1);
    visit(first + view.getUint8(at), new Uint8Array(data, at + MINUTE_HEAD_BYTES, length));
    at += MINUTE_HEAD_BYTES + length;
  }
}
