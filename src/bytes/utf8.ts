/** A text in UTF-8, typed as what WebCrypto takes: bytes whose memory is not shared. */
const encoder = new TextEncoder();

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  // The platform's types allow shared memory here; `encode` always makes a buffer of its own.
  return encoder.encode(text) as Uint8Array<ArrayBuffer>;
}
