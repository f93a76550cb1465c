/**
 * 32 bits of hash over the JSON of a record: it tells a copy from another record. It takes words of four bytes, because
 * it reads the whole text of every verdict. Texts that differ in one word only never have the same hash, others rarely.
 */

const encoder = new TextEncoder();
/** Of UTF-8, which takes three bytes for a UTF-16 unit at most, and the last word's filling. */
const bytesFor = (text: string): number => 4 * Math.ceil((text.length * 3) / 4 + 1);
let bytes = new Uint8Array(32_768);
let words = new Uint32Array(bytes.buffer);

export function bodyHash(body: string): number {
  if (bytes.length < bytesFor(body)) {
    bytes = new Uint8Array(bytesFor(body));
    words = new Uint32Array(bytes.buffer);
  }
  const { written } = encoder.encodeInto(body, bytes);
  bytes.fill(0, written, written + 4);
  const end = Math.ceil(written / 4);
  let hash = 0x811c9dc5;
  for (let at = 0; at < end; at++) {
    hash = Math.imul(hash ^ (words[at] as number), 0x01000193);
    // A product carries nothing downwards.
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
