/**
 * A challenge's answer behind `padBytes` characters of noise (site settings, `trafficFilter`): whoever brings
 * his traffic through a proxy that is paid by the gigabyte pays for every challenge he asks for. The
 * noise comes first, so that nobody can hang up after the part that matters, does not compress, and is
 * written as it is read: no isolate ever holds more than a piece of it.
 */

/** Also the most that `getRandomValues` fills at once. */
const PIECE_BYTES = 65_536;
/** An edge reads an answer whole before it hands it on, and 2 MB at most. */
export const PAD_BYTES_THROUGH_EDGE_MAX = 1_048_576;

const LETTERS = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');

/** `{"pad": "…", ...answer}`. The answer must have members of its own. */
export function paddedAnswer(answer: object, padBytes: number): Response {
  return new Response(padded('{"pad":"', padBytes, `",${JSON.stringify(answer).slice(1)}`), {
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });
}

export function padded(before: string, padBytes: number, after: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = padBytes;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(before));
    },
    pull(controller) {
      if (left > 0) {
        const piece = noise(Math.min(left, PIECE_BYTES));
        left -= piece.length;
        controller.enqueue(piece);
        return;
      }
      controller.enqueue(encoder.encode(after));
      controller.close();
    },
  });
}

function noise(length: number): Uint8Array {
  const piece = crypto.getRandomValues(new Uint8Array(length));
  for (let index = 0; index < length; index++) piece[index] = LETTERS[piece[index]! & 63]!;
  return piece;
}
