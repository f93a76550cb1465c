/**
 * Reads a stream whole, up to a limit of bytes and of time. `Content-Length` is the sender's claim only, so both
 * limits are enforced while reading: neither an endless body nor a slow one may hold an isolate's memory. A body that
 * makes no progress ends long before a large one over a slow connection does.
 */
import { failed, ok, type Result } from '../result.ts';

/** Enough for 8 MiB over a slow connection, and a bound on a sender who trickles bytes. */
const READ_TIMEOUT_MS = 30_000;
/** The slowest connection that still carries forms brings this much in this time. */
const PROGRESS_MS = 10_000;
const PROGRESS_MIN_BYTES = 4096;

/**
 * `unreadable`: the stream broke, or it did not end in time. `no-room`: `room` refused, or took back what it had given.
 */
export interface ReadFault {
  kind: 'too-large' | 'unreadable' | 'no-room';
}

/** Memory that several readers share. */
export interface Room {
  /** Called with the size of each chunk before it is kept: whether there is room for it. */
  take(bytes: number): boolean;
  /** Called first. `forget` may be called until `keep` is: the reader then drops what it has, for somebody else. */
  lend(forget: () => void): void;
  keep(): void;
}

export interface ReadLimits {
  /** For the whole stream; `null` for a reader that has no deadline. */
  timeoutMs?: number | null;
  room?: Room;
}

/** All bytes or none: a stream that stops early is an error, never a shorter body. */
export async function readBounded(
  stream: ReadableStream,
  maxBytes: number,
  { timeoutMs = READ_TIMEOUT_MS, room }: ReadLimits = {},
): Promise<Result<Uint8Array<ArrayBuffer>, ReadFault>> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  let isForgotten = false;
  const tooSlow = (): void => {
    isLate = true;
    void reader.cancel('too slow');
  };
  let before = 0;
  const watch = (): void => {
    if (size - before < PROGRESS_MIN_BYTES) tooSlow();
    before = size;
  };
  const timers = timeoutMs === null ? [] : [setTimeout(tooSlow, timeoutMs), setInterval(watch, PROGRESS_MS)];
  room?.lend(() => {
    isForgotten = true;
    chunks.length = 0;
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) {
        await reader.cancel('too large');
        return failed({ kind: 'too-large' });
      }
      if (isForgotten || room?.take(value.byteLength) === false) {
        await reader.cancel('no room');
        return failed({ kind: 'no-room' });
      }
      chunks.push(value);
    }
  } catch {
    return failed({ kind: 'unreadable' });
  } finally {
    room?.keep();
    timers.forEach(clearTimeout);
  }
  if (isForgotten) return failed({ kind: 'no-room' });
  return isLate ? failed({ kind: 'unreadable' }) : ok(joined(chunks, size));
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
