/**
 * The response with a challenge, after `padBytes` characters of noise (site setting `trafficFilter`). Proxies are often
 * paid by the gigabyte, so an attacker behind one pays for every challenge. The noise comes first, so that the client
 * cannot hang up after the part that matters. It does not compress, and it is generated piece by piece as the client
 * reads it, so an isolate never holds more than one piece.
 */

/** The most that `getRandomValues` fills at once. */
const PIECE_BYTES = 65_536;
/** An edge reads a whole response, of at most 2 MB, before it passes it on. */
export const PAD_BYTES_THROUGH_EDGE_MAX = 1_048_576;

const LETTERS = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');

/** `{"pad": "…", ...body}`. The body must have at least one field. */
export function paddedResponse(body: object, padBytes: number): Response {
  return new Response(padded('{"pad":"', padBytes, `",${JSON.stringify(body).slice(1)}`), {
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
