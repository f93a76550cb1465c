/**
 * Local stack only: reads a request body to its end when the response did not wait for it. Cloudflare's front end does
 * this for a Worker. workerd alone closes the connection, and a client that is still sending loses the response.
 */
import type { ExportedHandler, ReadableStream } from '@cloudflare/workers-types';

/** Cloudflare's limit for a body. A longer one loses its connection there too. */
const BODY_MAX_BYTES = 100 * 1024 * 1024;
/** Methods that clients send without a body. */
const readOnly = new Set(['GET', 'HEAD']);

type Worker<Env> = ExportedHandler<Env> & Required<Pick<ExportedHandler<Env>, 'fetch'>>;

export function readingRefusedBodies<Env>(worker: Worker<Env>): Worker<Env> {
  return {
    ...worker,
    async fetch(request, env, context) {
      const response = await worker.fetch(request, env, context);
      // Reading `body` creates a stream, which costs more than a small response. Skip it without an unread body.
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
    // The client disconnected, so no one waits for the response.
  }
}
