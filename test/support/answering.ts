/**
 * Servers of tests that read a body before they answer. A client that hangs up in the middle (a Worker that a test
 * stops) is no error of the test; anything else that goes wrong is.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): RequestListener {
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return;
      response.destroy();
      throw error;
    });
  };
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
