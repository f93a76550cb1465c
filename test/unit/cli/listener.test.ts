/** The socket in front of a Worker of the local stack. */
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { listen } from '../../../src/cli/listener.ts';
import { freePortBase } from '../../support/ports.ts';

test('a response with a thousand cookies arrives whole', async () => {
  const cookies = Array.from({ length: 1000 }, (_, index) => `cookie-${index}=${'x'.repeat(20)}; Path=/`);
  const worker = createServer((_, response) => response.writeHead(200, { 'set-cookie': cookies }).end('ok'));
  await new Promise<void>((resolve) => worker.listen(0, '127.0.0.1', resolve));
  const port = await freePortBase();
  const listener = await listen(port);
  try {
    listener.target = new URL(`http://127.0.0.1:${(worker.address() as AddressInfo).port}`);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, host: '127.0.0.1', maxHeaderSize: 1_000_000 }, resolve).on('error', reject).end();
    });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, cookies]);
    answer.resume();
  } finally {
    await listener.close();
    worker.close();
  }
});
