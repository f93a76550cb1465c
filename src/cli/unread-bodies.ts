/**
 * Local stack only: a request whose answer did not wait for its body is read to its end before it is answered.
 * Cloudflare's front end does that for a Worker; workerd alone closes the connection, and the answer is lost
 * on the way to whoever is still sending.
 */
import type { ExportedHandler, ReadableStream } from '@cloudflare/workers-types';

/** What Cloudflare takes at most in one body; a longer one loses its connection there too. */
const BODY_MAX_BYTES = 100 * 1024 * 1024;
/** Without a body, as every client sends them. */
const readOnly = new Set(['GET', 'HEAD']);

type Worker<Env> = ExportedHandler<Env> & Required<Pick<ExportedHandler<Env>, 'fetch'>>;

export function readingRefusedBodies<Env>(worker: Worker<Env>): Worker<Env> {
  return {
    ...worker,
    async fetch(request, env, context) {
      const response = await worker.fetch(request, env, context);
      // Asking for `body` makes a stream, which costs more than a small answer: not for who sends none or was read.
      if (request.bodyUsed || (readOnly.has(request.method) && !request.headers.has('content-length'))) return response;
      if (request.body !== null && !request.body.locked) await readAndDrop(request.body);
      return response;
    },
  };
}

async function readAndDrop(body: ReadableStream<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > BODY_MAX_BYTES) return;
    }
  } catch {
    // Who sent it has gone; the answer has nobody to reach.
  }
}
