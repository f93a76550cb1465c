/** Bytes as WebCrypto takes them, and texts in UTF-8. */

/** Bytes whose memory is not shared. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

export function encodeUtf8(text: string): Bytes {
  // The platform's types allow shared memory here; `encode` always makes a buffer of its own.
  return encoder.encode(text) as Bytes;
}
