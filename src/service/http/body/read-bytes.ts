/**
 * Reads a body up to a limit and no further. `Content-Length` is only a promise: the limit is kept
 * while reading, so that a chunked or lying request cannot fill the isolate's memory.
 */
import { ApiError } from '../api-error.ts';

/**
 * A small body with a length of its own is read in one go, a tenth of the cost of a stream's reader. HTTP/1
 * ends such a body at that length (RFC 9112, 6.3); where `Transfer-Encoding` is present it would not.
 */
const AT_ONCE_MAX_BYTES = 64 * 1024;

export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (!request.body) return new Uint8Array(0);
  if (announced !== null && Number(announced) <= AT_ONCE_MAX_BYTES && !request.headers.has('transfer-encoding')) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  }
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('API.BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes`);
}
