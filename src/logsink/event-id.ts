/**
 * Event ids: UUIDv7 (RFC 9562 section 5.7), 48 bits of milliseconds and 74 random bits. An id is made once per record,
 * before the first send, so that every retry carries it and the store drops second copies. Ids are ordered by time, so
 * that the store's id index grows at its end.
 */
import { hexOfByte } from '../bytes/hex.ts';

/** Ids served by one call to the system's random source; the call costs more than the bytes. */
const IDS_PER_REFILL = 100;
const RANDOM_BYTES_PER_ID = 10;

const pool = new Uint8Array(IDS_PER_REFILL * RANDOM_BYTES_PER_ID);
let poolOffset = pool.length;
/** The first two groups of an id, of the millisecond of the last one. */
let time = { ms: -1, text: '' };

export function newEventId(nowMs: number): string {
  if (poolOffset >= pool.length) {
    crypto.getRandomValues(pool);
    poolOffset = 0;
  }
  const at = poolOffset;
  poolOffset += RANDOM_BYTES_PER_ID;
  const hex = (index: number): string => hexOfByte[pool[at + index] as number] as string;
  const ms = Math.floor(nowMs);
  if (time.ms !== ms) time = { ms, text: timeText(ms) };
  const versioned = hexOfByte[0x70 | ((pool[at] as number) & 0x0f)] as string;
  const variant = hexOfByte[0x80 | ((pool[at + 2] as number) & 0x3f)] as string;
  return `${time.text}-${versioned}${hex(1)}-${variant}${hex(3)}-${hex(4)}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}`;
}

/** When an id of this form was made; epoch milliseconds. */
export function eventTimeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function timeText(ms: number): string {
  const digits = ms.toString(16).padStart(12, '0').slice(-12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
