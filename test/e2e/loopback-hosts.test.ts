/** What the local stack may call on the machine that it runs on, so that lists, webhooks and agents can be tried there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { botKeys } from '../../src/contract/edge/bot-calls.ts';
import { DIRECTORY_PATH } from '../../src/bots/signatures/agent-address.ts';
import { agentKeyPair } from '../support/signed-request.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
const pair = await agentKeyPair();

/** Method and path of each request. */
let requests: string[];
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  request.resume();
  const isDirectory = request.url === DIRECTORY_PATH;
  response.writeHead(200, { 'content-type': isDirectory ? 'application/json' : 'text/plain' });
  response.end(isDirectory ? JSON.stringify({ keys: [pair.jwk] }) : '198.18.0.0/15\n9.9.9.9\n');
});
let host: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  requests = [];
});
afterAll(() => server.close());

test('a list of this machine is read', async () => {
  await manage(stack(), '/protect/lists/create', { name: 'local', url: `http://${host}/list.txt` });
  await manage(stack(), '/protect/lists/refresh', { name: 'local' });
  const { lists } = await manage<{ lists: object[] }>(stack(), '/protect/lists', {});
  expect(lists).toMatchObject([{ name: 'local', state: 'good', entries: 1, error: null }]);
  expect(requests).toEqual(['GET /list.txt']);
});

test('a webhook of this machine gets its alert', async () => {
  const webhookUrl = `http://${host}/hook`;
  const hook = { name: 'Local', shape: 'webhook', webhookUrl };
  const { channel } = await manage<{ channel: { id: string } }>(stack(), '/alerts/channels/create', hook);
  const sent = await manage(stack(), '/alerts/channels/test', { channelId: channel.id });
  expect(sent).toMatchObject({ delivered: true });
  expect(requests).toEqual(['POST /hook']);
});

test('the directory of an agent of this machine is fetched', async () => {
  const response = await fetch(`${stack().serviceUrl}/edge/v1/bot-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack().clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent: `https://${host}${DIRECTORY_PATH}` }),
  });
  expect(botKeys.parse(await response.json()).keys).toEqual([pair.key]);
  expect(requests).toEqual([`GET ${DIRECTORY_PATH}`]);
});

test('no list of the bots’ operators has failed where the stack has no copy of it', async () => {
  interface Lists {
    lists: { error: string | null; triedAt: number | null; networkCount: number }[];
  }
  const { lists } = await eventually(
    async () => {
      await stack().runScheduled();
      return manage<Lists>(stack(), '/protect/bots/lists', {});
    },
    (found) => found.lists.filter(({ networkCount }) => networkCount > 0).length >= 10,
  );
  expect(lists.filter(({ error }) => error !== null)).toEqual([]);
  expect(lists.some(({ triedAt }) => triedAt === null)).toBe(true);
});
