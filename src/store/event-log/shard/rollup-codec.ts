/**
 * Rollup buckets as bytes. For each value, in rising order of its id: the difference to the id before, and three counts,
 * all as LEB128. Packed, because one table row per value would cost a written row per verdict. Minutes are packed once
 * more, ten to a row: for each minute with counts its number among the ten (one byte), the length of its bucket (four), and
 * the bucket.
 */
import type { Counts } from '../shard-rpc.ts';

/** Minutes of one row. An hour is a whole number of rows, so that hours expire row by row. */
export const PACKED_MINUTES = 10;
const MINUTE_HEAD_BYTES = 5;

export type IdCounts = Map<number, Counts>;

export function encodeCounts(counts: ReadonlyMap<number, Readonly<Counts>>): Uint8Array {
  const ids = [...counts.keys()].sort((a, b) => a - b);
  // Four numbers below 2^53 take at most eight bytes each.
  const bytes = new Uint8Array(ids.length * 32);
  let at = 0;
  let previous = 0;
  const write = (value: number): void => {
    let rest = value;
    while (rest >= 0x80) {
      bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    bytes[at++] = rest;
  };
  for (const id of ids) {
    const [allow, challenge, block] = counts.get(id) as Counts;
    if (allow <= 0 && challenge <= 0 && block <= 0) continue;
    write(id - previous);
    previous = id;
    write(Math.max(allow, 0));
    write(Math.max(challenge, 0));
    write(Math.max(block, 0));
  }
  return bytes.slice(0, at);
}

/** Packs the buckets of the ten minutes from `first` on. */
export function encodeMinutes(first: number, minutes: ReadonlyMap<number, IdCounts>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset < PACKED_MINUTES; offset++) {
    const bucket = encodeCounts(minutes.get(first + offset) ?? new Map<number, Counts>());
    if (bucket.length === 0) continue;
    const head = new DataView(new ArrayBuffer(MINUTE_HEAD_BYTES));
    head.setUint8(0, offset);
    head.setUint32(1, bucket.length);
    parts.push(new Uint8Array(head.buffer), bucket);
  }
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Receives one value's counts as three numbers, without an object: a week has millions of them. */
export type VisitCounts = (id: number, allow: number, challenge: number, block: number) => void;

/** Calls `visit` for every value of a packed bucket, in rising order of its id. */
export function decodeCounts(data: ArrayBuffer | Uint8Array, visit: VisitCounts): void {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  let at = 0;
  let id = 0;
  const read = (): number => {
    let byte = bytes[at++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (;;) {
      byte = bytes[at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  };
  while (at < bytes.length) {
    id += read();
    visit(id, read(), read(), read());
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
