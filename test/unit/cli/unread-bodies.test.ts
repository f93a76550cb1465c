/** Bodies of the local stack's visitors: each is read to its end before its response goes out. */
import type { ExecutionContext } from '@cloudflare/workers-types';
import { describe, expect, test } from 'vitest';
import { readingRefusedBodies } from '../../../src/cli/unread-bodies.ts';

type Fetch = Parameters<typeof readingRefusedBodies>[0]['fetch'];

const PIECES = 50;

/** A body of which every piece is noted when it is taken. */
async function sentTo(handle: (request: Request) => Promise<string>, headers: Record<string, string> = {}) {
  let taken = 0;
  let isEnded = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken++ < PIECES) return controller.enqueue(new Uint8Array(1000));
        isEnded = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const fetch = (async (request: unknown) => new Response(await handle(request as Request))) as unknown as Fetch;
  const worker = readingRefusedBodies({ fetch });
  const request = new Request('http://gate.test/', { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  const response = await worker.fetch(request as unknown as Parameters<Fetch>[0], {}, {} as ExecutionContext);
  return { text: await response.text(), isEnded };
}

describe.each([['in chunks', {}] as const, ['of a known length', { 'content-length': '50000' }] as const])(
  'a body %s',
  (_, headers) => {
    test('arrives whole', async () => {
      const read = async (request: Request) => String((await request.arrayBuffer()).byteLength);
      expect(await sentTo(read, headers)).toEqual({ text: '50000', isEnded: true });
    });

    test('that the Worker does not read is read before the response', async () => {
      expect(await sentTo(() => Promise.resolve('refused'), headers)).toEqual({ text: 'refused', isEnded: true });
    });
  },
);

test('a body in chunks that the Worker stops reading in the middle is read before the response', async () => {
  const stop = async (request: Request) => {
    const reader = request.body!.getReader();
    await reader.read();
    await reader.cancel('too large');
    return 'too large';
  };
  expect(await sentTo(stop)).toEqual({ text: 'too large', isEnded: true });
});
