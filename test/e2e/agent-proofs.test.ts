/**
 * What the service finds out about agents, asked as an edge asks: keys in their directories, names in DNS, and nonces.
 * Directories and DNS are servers of this test.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIRECTORY_PATH } from '../../src/bots/signatures/agent-address.ts';
import { botKeys } from '../../src/contract/bots/bot-keys.ts';
import type { BotKeys } from '../../src/contract/bots/bot-keys.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { json, startBotServers } from '../support/bot-servers.ts';
import type { BotServers, DirectoryAnswer } from '../support/bot-servers.ts';
import { startTestStack } from '../support/stack.ts';
import { agentKeyPair } from '../support/signed-request.ts';
import type { AgentKeyPair } from '../support/signed-request.ts';

const HOSTS = ['set', 'bare', 'lying', 'mixed', 'moved', 'slow', 'huge', 'crowd', 'html', 'gone', 'once', 'down'];

let servers: BotServers;
let stack: Stack;
let pair: AgentKeyPair;
const setHost = (host: string, answer: DirectoryAnswer) => servers.hosts.set(`${host}.test`, answer);

beforeAll(async () => {
  pair = await agentKeyPair();
  servers = await startBotServers(HOSTS.map((host) => `${host}.test`));
  stack = await startTestStack({ serviceVars: servers.serviceVars });
});

afterAll(async () => {
  await stack?.stop();
  servers?.close();
});

async function ask(path: string, body: object): Promise<{ status: number; body: any }> {
  const response = await fetch(`${stack.serviceUrl}/edge/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function keysOf(agent: string, keyid?: string): Promise<BotKeys> {
  return botKeys.parse((await ask('bot-keys', { agent, keyid })).body);
}

const wellKnown = (host: string): string => `https://${host}.test${DIRECTORY_PATH}`;
const failure = { isFetched: false, keys: [] };

describe('a directory', () => {
  test('is fetched, its keys have the thumbprints that were computed, and it is kept as long as it asks for', async () => {
    setHost('set', json({ keys: [{ ...pair.jwk, kid: pair.keyid, use: 'sig' }] }, { 'cache-control': 'max-age=7200' }));
    expect(await keysOf(wellKnown('set'))).toEqual({ isFetched: true, keys: [pair.key], maxAgeSeconds: 7200 });
    servers.fetches.length = 0;
    const again = await keysOf(wellKnown('set'), pair.keyid);
    expect(again.keys).toEqual([pair.key]);
    expect(servers.fetches).toEqual([]);
  });

  test.each([
    ['one key without a set', 'bare', () => pair.jwk],
    ['a name of the key that is not its thumbprint', 'lying', () => ({ keys: [{ ...pair.jwk, kid: 'A'.repeat(43) }] })],
    [
      'entries that are no usable keys',
      'mixed',
      () => ({
        keys: [
          null,
          'key',
          { kty: 'oct', k: 'c2VjcmV0' },
          { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
          { ...pair.jwk, d: 'AA' },
          { ...pair.jwk, use: 'enc' },
          { ...pair.jwk, exp: 1 },
          { ...pair.jwk, nbf: 99_999_999_999 },
          { ...pair.jwk, x: 'AA' },
          pair.jwk,
        ],
      }),
    ],
  ])('with %s counts by what it has', async (_, host, body) => {
    setHost(host, json(body()));
    expect(await keysOf(wellKnown(host))).toMatchObject({ isFetched: true, keys: [pair.key] });
  });

  test.each<[string, string, DirectoryAnswer]>([
    ['redirects', 'moved', (response) => response.writeHead(302, { location: '/set/' }).end()],
    ['stalls', 'slow', (response) => void response.writeHead(200).write('{"keys":[')],
    ['is larger than 64 KB', 'huge', json({ keys: [], padding: 'x'.repeat(70_000) })],
    ['lists 10,000 keys', 'crowd', json({ keys: Array.from({ length: 10_000 }, () => ({})) })],
    ['is a page', 'html', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['does not exist', 'gone', (response) => void response.writeHead(404).end('{"keys":[]}')],
  ])('that %s has no keys, and is not fetched again soon', async (_, host, answer) => {
    setHost(host, answer);
    expect(await keysOf(wellKnown(host))).toEqual({ ...failure, maxAgeSeconds: 300 });
    servers.fetches.length = 0;
    expect(await keysOf(wellKnown(host), pair.keyid)).toMatchObject(failure);
    expect(servers.fetches).toEqual([]);
  });

  test('is fetched once for many who ask at the same time', async () => {
    setHost('once', json({ keys: [pair.jwk] }));
    servers.fetches.length = 0;
    const answers = await Promise.all(Array.from({ length: 30 }, () => keysOf(wellKnown('once'))));
    expect(answers.every(({ keys }) => keys.length === 1)).toBe(true);
    expect(servers.fetches).toHaveLength(1);
  });

  test('survives a restart of the service, also when it is down then', async () => {
    setHost('down', json({ keys: [pair.jwk] }));
    await keysOf(wellKnown('down'));
    setHost('down', (response) => void response.destroy());
    await stack.stopService();
    await stack.startService();
    expect(await keysOf(wellKnown('down'))).toMatchObject({ isFetched: true, keys: [pair.key] });
  });

  test.each([
    'https://127.0.0.1/keys',
    'https://[::1]/keys',
    'https://[::ffff:10.0.0.1]/keys',
    'https://0x7f000001/keys',
    'https://localhost/keys',
    'https://metadata.google.internal/keys',
    'https://intranet/keys',
    'https://public.example:8443/keys',
    'https://private.example/keys',
    'https://mixed.example/keys',
    'https://nowhere.example/keys',
  ])('%s is not fetched', async (agent) => {
    servers.names.set('private.example A', [{ type: 1, data: '192.168.0.1' }]);
    servers.names.set('mixed.example A', [{ type: 1, data: '8.8.8.8' }]);
    servers.names.set('mixed.example AAAA', [{ type: 28, data: 'fd00::1' }]);
    const { status, body } = await ask('bot-keys', { agent });
    // An address in another spelling is not what an edge would ask for.
    expect(status === 400 || (status === 200 && body.keys.length === 0)).toBe(true);
  });

  test.each([
    ['http', 'http://set.test/keys'],
    ['a password', 'https://a:b@set.test/keys'],
    ['another spelling', 'https://SET.test/keys'],
    ['a text', 'keys'],
  ])('is not asked for by %s', async (_, agent) => {
    expect((await ask('bot-keys', { agent })).status).toBe(400);
  });
});

describe('an address', () => {
  const PTR = 12;
  const A = 1;
  const AAAA = 28;
  const reverse = (ip: string): string => `${ip.split('.').toReversed().join('.')}.in-addr.arpa PTR`;
  const proof = async (ip: string, bot = 'googlebot') => (await ask('bot-proofs', { bot, ip })).body.holds as unknown;

  test('belongs to a bot when its name and the address of that name say so', async () => {
    servers.names.set(reverse('66.249.66.1'), [{ type: PTR, data: 'crawl-66-249-66-1.googlebot.com.' }]);
    servers.names.set('crawl-66-249-66-1.googlebot.com. A', [{ type: A, data: '66.249.66.1' }]);
    expect(await proof('66.249.66.1')).toBe(true);
    servers.names.set('1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.8.4.0.6.8.4.1.0.0.2.ip6.arpa PTR', [
      { type: PTR, data: 'crawl-v6.googlebot.com.' },
    ]);
    servers.names.set('crawl-v6.googlebot.com. AAAA', [{ type: AAAA, data: '2001:4860:4801:0::1' }]);
    expect(await proof('2001:4860:4801::1')).toBe(true);
  });

  test.each([
    ['whose name has another address', '8.8.4.1', 'crawl-fake.googlebot.com.', '66.249.66.1'],
    ['whose name only begins like the operator’s', '8.8.4.2', 'googlebot.com.evil.test.', '8.8.4.2'],
    ['whose name only ends like the operator’s', '8.8.4.3', 'crawl.notgooglebot.com.', '8.8.4.3'],
    ['whose name is the operator’s domain itself', '8.8.4.4', 'googlebot.com.', '8.8.4.4'],
  ])('%s does not', async (_, ip, name, forward) => {
    servers.names.set(reverse(ip), [{ type: PTR, data: name }]);
    servers.names.set(`${name} A`, [{ type: A, data: forward }]);
    expect(await proof(ip)).toBe(false);
  });

  test('without a name, of a private network, or of a bot without names does not', async () => {
    expect(await proof('8.8.4.9')).toBe(false);
    expect(await proof('10.0.0.1')).toBe(false);
    expect(await proof('66.249.66.1', 'gptbot')).toBe(false);
    expect(await proof('not-an-address')).toBe(false);
  });

  test('is undecided while DNS gives no answer, and is looked up again', async () => {
    servers.names.set(reverse('66.249.66.7'), 'broken');
    expect(await proof('66.249.66.7')).toBeNull();
    servers.names.set(reverse('66.249.66.7'), [{ type: PTR, data: 'crawl-7.googlebot.com.' }]);
    servers.names.set('crawl-7.googlebot.com. A', [{ type: A, data: '66.249.66.7' }]);
    expect(await proof('66.249.66.7')).toBe(true);
  });
});

describe('a nonce', () => {
  const use = async (nonce: string, expiresAt = Date.now() + 60_000, agent = wellKnown('set')) =>
    (await ask('bot-nonces/spend', { agent, keyid: pair.keyid, nonce, expiresAt })).body.spent as boolean;

  test('is spent once in 200 parallel uses', async () => {
    const expiresAt = Date.now() + 60_000;
    const uses = await Promise.all(Array.from({ length: 200 }, () => use('parallel', expiresAt)));
    expect(uses.filter(Boolean)).toHaveLength(1);
  });

  test('of another agent is another nonce', async () => {
    expect([await use('mine'), await use('mine'), await use('mine', undefined, wellKnown('other'))]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('of a signature that has expired, or lives longer than a day, cannot be spent', async () => {
    expect(await use('old', Date.now() - 120_000)).toBe(false);
    expect(await use('young', Date.now() + 2 * 86_400_000)).toBe(false);
  });
});

test('only an edge may ask', async () => {
  for (const path of ['bot-keys', 'bot-proofs', 'bot-nonces/spend']) {
    const response = await fetch(`${stack.serviceUrl}/edge/v1/${path}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  }
});
