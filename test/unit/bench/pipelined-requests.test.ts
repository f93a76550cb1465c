/** The client of `npm run bench -- lookup`: each answer belongs to its address, however many requests are under way. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answersOf } from '../../../bench/peers/pipelined-requests.ts';
import { expectRows } from '../../support/rows.ts';

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer(({ headers }, response) => {
    const address = String(headers['x-ip']);
    if (address === 'refused') response.statusCode = 400;
    response.setHeader('content-length', 1).end(address.at(-1));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

test('any number of addresses have their own answers', () =>
  expectRows([0, 1, 63, 64, 65, 5000], async (count) => {
    const addresses = Array.from({ length: count }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    expect([...(await answersOf(port, addresses))]).toEqual(addresses.map((address) => Number(address.at(-1))));
  }));

test('a response that is not a 200 ends the measurement', async () => {
  await expect(answersOf(port, ['10.0.0.1', 'refused'])).rejects.toThrow('Unexpected response: HTTP/1.1 400');
});
