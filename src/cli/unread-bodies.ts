/**
 * Local stack only: reads a request body to its end where the Worker does not. Cloudflare's front end does this for a
 * Worker. workerd alone closes the connection, and a client that is still sending loses the response.
 */
import type { ExportedHandler } from '@cloudflare/workers-types';

/** Cloudflare's limit for a body. A longer one loses its connection there too. */
const BODY_MAX_BYTES = 100 * 1024 * 1024;
/** Methods that clients send without a body. */
const readOnly = new Set(['GET', 'HEAD']);

type Worker<Env> = ExportedHandler<Env> & Required<Pick<ExportedHandler<Env>, 'fetch'>>;
type Body = ReadableStream<Uint8Array>;

export function readingRefusedBodies<Env>(worker: Worker<Env>): Worker<Env> {
  return {
    ...worker,
    async fetch(request, env, context) {
      const isAnnounced = request.headers.has('content-length');
      // Reading `body` creates a stream, which costs more than a small response. Skip it without a body.
      if (readOnly.has(request.method) && !isAnnounced) return worker.fetch(request, env, context);
      // The runtime's types differ from those of Node, which this file is compiled with.
      const received = request.body as unknown as Body | null;
      if (isAnnounced || received === null) {
        const response = await worker.fetch(request, env, context);
        if (!request.bodyUsed && received?.locked === false) await readAndDrop(received.getReader());
        return response;
      }
      // The Worker learns how large a body in chunks is while it reads, and may stop in the middle.
      const { body, rest } = stoppable(received);
      const init = { body, duplex: 'half' };
      const copy = new Request(request as unknown as Request, init) as unknown as typeof request;
      const response = await worker.fetch(copy, env, context);
      await rest();
      return response;
    },
  };
}

/** The same bytes. `rest` reads what is left of them where the reader of `body` has stopped, or never began. */
function stoppable(source: Body): { body: Body; rest: () => Promise<void> } {
  const reader = source.getReader();
  let hasBegun = false;
  let isStopped = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        hasBegun = true;
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        isStopped = true;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    body,
    rest: async () => {
      if (isStopped || !hasBegun) await readAndDrop(reader);
    },
  };
}

async function readAndDrop(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let bytes = 0; bytes <= BODY_MAX_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.byteLength;
    }
  } catch {
    // The client disconnected, so no one waits for the response.
  }
}
