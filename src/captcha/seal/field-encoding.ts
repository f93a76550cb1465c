/**
 * The canonical structure under every seal and every tag: a list of byte fields, each preceded by its length. The
 * length of every field is part of what is authenticated, so no byte can move from one field to the next (the splicing
 * attack of CVE-2025-68113), and one list has exactly one encoding.
 */
import { type Bytes, encodeUtf8 } from '../../bytes/utf8.ts';
import { decodeHex } from '../../bytes/hex.ts';
import { parseJson } from '../../bytes/json.ts';

/** Fields stay far below 64 KiB. */
const LENGTH_BYTES = 2;
const FIELD_MAX_BYTES = 0xffff;
const NUMBER_BYTES = 8;

/** @throws when a field is longer than its length prefix can say. */
export function encodeFields(fields: readonly Uint8Array[]): Bytes {
  let total = 0;
  for (const field of fields) total += LENGTH_BYTES + field.length;
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const field of fields) {
    if (field.length > FIELD_MAX_BYTES) throw new RangeError(`field of ${field.length} bytes`);
    bytes[at] = field.length >> 8;
    bytes[at + 1] = field.length;
    bytes.set(field, at + LENGTH_BYTES);
    at += LENGTH_BYTES + field.length;
  }
  return bytes;
}

/** Exactly `count` fields and no further byte, or `null`. The fields are views, not copies. */
export function decodeFields(bytes: Bytes, count: number): Bytes[] | null {
  const fields: Bytes[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + LENGTH_BYTES > bytes.length) return null;
    const length = (bytes[at]! << 8) | bytes[at + 1]!;
    at += LENGTH_BYTES;
    if (at + length > bytes.length) return null;
    fields.push(bytes.subarray(at, at + length));
    at += length;
  }
  return at === bytes.length ? fields : null;
}

/** Fatal, and with the byte order mark kept: every byte string has at most one text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textField(text: string): Bytes {
  return encodeUtf8(text);
}

export function readText(field: Bytes): string | null {
  try {
    return decoder.decode(field);
  } catch {
    return null;
  }
}

export function jsonField(value: unknown): Bytes {
  return textField(JSON.stringify(value));
}

/** `undefined` for a field that is not JSON, which is different from the JSON `null`. */
export function readJson(field: Bytes): unknown {
  const text = readText(field);
  return text === 'null' ? null : (parseJson(text) ?? undefined);
}

/** The bytes of a hex text. @throws when it is not hex. */
export function hexField(text: string): Bytes {
  const bytes = decodeHex(text);
  if (bytes === null) throw new RangeError('not a field of hex digits');
  return bytes;
}

/** A safe non-negative integer, 8 bytes big-endian. */
export function numberField(value: number): Bytes {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a field number: ${value}`);
  const bytes = new Uint8Array(NUMBER_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

export function readNumber(field: Bytes): number | null {
  if (field.length !== NUMBER_BYTES) return null;
  const value = new DataView(field.buffer, field.byteOffset, NUMBER_BYTES).getBigUint64(0);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
}
