/**
 * Reads a stream whole, up to a limit of bytes and of time. `Content-Length` is the sender's claim only, so both
 * limits are enforced while reading: neither an endless body nor a slow one may hold an isolate's memory.
 */
import { failed, ok } from '../result.ts';
import type { Result } from '../result.ts';

/** Enough for 8 MiB over a slow connection, and a bound on a sender who trickles bytes. */
const READ_TIMEOUT_MS = 30_000;

export type ReadError =
  | 'too-large'
  /** The stream broke, or it did not end in time. */
  | 'unreadable'
  /** `hold` refused. */
  | 'no-room';

export interface ReadLimits {
  /** For the whole stream; `null` for a reader that has no deadline. */
  timeoutMs?: number | null;
  /** Called with the size of each chunk before it is kept: whether there is room for it. */
  hold?: (bytes: number) => boolean;
}

/** All bytes or none: a stream that stops early is an error, never a shorter body. */
export async function readBounded(
  stream: ReadableStream,
  maxBytes: number,
  { timeoutMs = READ_TIMEOUT_MS, hold }: ReadLimits = {},
): Promise<Result<Uint8Array<ArrayBuffer>, ReadError>> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  let late = false;
  const timer =
    timeoutMs === null
      ? undefined
      : setTimeout(() => {
          late = true;
          void reader.cancel('too slow');
        }, timeoutMs);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) {
        await reader.cancel('too large');
        return failed('too-large');
      }
      if (hold?.(value.byteLength) === false) {
        await reader.cancel('no room');
        return failed('no-room');
      }
      chunks.push(value);
    }
  } catch {
    return failed('unreadable');
  } finally {
    clearTimeout(timer);
  }
  return late ? failed('unreadable') : ok(joined(chunks, size));
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
