/** The bytes of a request body, up to a limit. */
import { readBounded } from '../../../bytes/read-bounded.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { BodyError } from '../service-error.ts';

/**
 * A small body with a `Content-Length` is read in one call, at a tenth of the cost of reading its stream. HTTP/1 ends
 * such a body at that length (RFC 9112, 6.3), unless it has `Transfer-Encoding`.
 */
const AT_ONCE_MAX_BYTES = 64 * 1024;

export async function readBytes(
  request: Request,
  maxBytes: number,
): Promise<Result<Uint8Array<ArrayBuffer>, BodyError>> {
  const tooLarge = failed<BodyError>({ kind: 'body-too-large', maxBytes });
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > maxBytes) return tooLarge;
  if (!request.body) return ok(new Uint8Array(0));
  if (announced !== null && Number(announced) <= AT_ONCE_MAX_BYTES && !request.headers.has('transfer-encoding')) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.byteLength > maxBytes ? tooLarge : ok(bytes);
  }
  const read = await readBounded(request.body, maxBytes, { timeoutMs: null });
  if (read.ok) return read;
  return read.error.kind === 'too-large' ? tooLarge : failed({ kind: 'body-incomplete' });
}
