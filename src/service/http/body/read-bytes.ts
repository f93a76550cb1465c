/** The bytes of a request's body, or the API's error for a body that is too large or broken. */
import { readBounded } from '../../../bytes/read-bounded.ts';
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
  const read = await readBounded(request.body, maxBytes, { timeoutMs: null });
  if (read.ok) return read.value;
  throw read.error === 'too-large'
    ? tooLarge(maxBytes)
    : new ApiError('API.PARSE_ERROR', 'The body did not arrive completely; send it again');
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('API.BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes`);
}
