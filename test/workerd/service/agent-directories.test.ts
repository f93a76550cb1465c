/** The keys of agents over hours: a directory that is down, one that drops a key, and how many may be named. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { BotKeys } from '../../../src/contract/edge/bot-calls.ts';
import { checkedEnvironment } from '../../../src/service/environment.ts';
import { runScheduled } from '../../../src/service/scheduled.ts';
import { later, testNow } from '../../support/clock.ts';
import { type AgentKeyPair, agentKeyPair } from '../../support/signed-request.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let names = 0;
let pair: AgentKeyPair;
let next: AgentKeyPair;
let directory: string;
/** What the directory lists; `null` while it is down. */
let listed: readonly AgentKeyPair[] | null;
let fetches: number;
/** What the resolver says of the directory's IPv6 addresses; `null` while it fails. */
let v6: readonly object[] | null;
let keysOf: (agent?: string, keyid?: string) => Promise<BotKeys>;

beforeEach(async () => {
  [pair, next] = await Promise.all([agentKeyPair(), agentKeyPair()]);
  const owner = await newAccount();
  const { body: instance } = await call(owner.token, '/protect/instances/create', {
    name: 'Shop',
    cname: `agents${names++}.example.org`,
    globalSiteKey: owner.site.siteKey,
  });
  const { body: issued } = await call(owner.token, '/protect/client-jwt/generate', {
    protectInstanceId: instance.id,
    expiresInWeeks: 4,
  });
  directory = `https://agent${names}.example/keys`;
  listed = [pair];
  fetches = 0;
  v6 = [];
  keysOf = async (agent = directory, keyid?: string) =>
    (await call(issued.clientJwt, '/edge/v1/bot-keys', { agent, keyid })).body as BotKeys;
  vi.stubGlobal('fetch', async (input: string): Promise<Response> => {
    if (input.startsWith('https://cloudflare-dns.com/')) {
      const isV4 = new URL(input).searchParams.get('type') === 'A';
      if (!isV4 && v6 === null) return new Response(null, { status: 502 });
      return Response.json({ Status: 0, Answer: isV4 ? [{ type: 1, TTL: 60, data: '8.8.8.8' }] : v6 });
    }
    fetches++;
    if (listed === null) throw new TypeError('connection refused');
    return Response.json(
      { keys: listed.map(({ jwk }) => jwk) },
      { headers: { 'cache-control': 'public, max-age=600' } },
    );
  });
});

describe('a directory that is down', () => {
  test('takes no key away, and is tried again every five minutes', async () => {
    expect(await keysOf()).toMatchObject({ isFetched: true, keys: [pair.key], maxAgeSeconds: 600 });
    listed = null;
    later(10 * MINUTE_MS);
    expect(await keysOf()).toEqual({ isFetched: false, keys: [pair.key], maxAgeSeconds: 300 });
    await keysOf();
    expect(fetches).toBe(2);
    later(5 * MINUTE_MS);
    expect((await keysOf()).keys).toEqual([pair.key]);
    expect(fetches).toBe(3);
    listed = [next];
    later(5 * MINUTE_MS);
    expect(await keysOf()).toMatchObject({ isFetched: true, keys: [next.key] });
  });
});

describe('a key', () => {
  test('that its directory no longer lists is gone after the time that the directory asked for', async () => {
    listed = [pair, next];
    await keysOf();
    listed = [next];
    later(9 * MINUTE_MS);
    expect((await keysOf(directory, pair.keyid)).keys).toHaveLength(2);
    later(MINUTE_MS);
    expect((await keysOf(directory, pair.keyid)).keys).toEqual([next.key]);
  });

  test('that is new is found before that time, once a minute', async () => {
    await keysOf();
    listed = [pair, next];
    expect((await keysOf(directory, next.keyid)).keys).toEqual([pair.key]);
    later(MINUTE_MS);
    expect((await keysOf(directory, next.keyid)).keys).toEqual([pair.key, next.key]);
    const nobodys = 'A'.repeat(43);
    await keysOf(directory, nobodys);
    expect(fetches).toBe(2);
  });
});

test('one instance makes the service fetch a hundred new agents an hour, and its known ones still', async () => {
  await keysOf();
  for (let index = 0; index < 105; index++) await keysOf(`https://many${names}-${index}.example/keys`);
  expect(fetches).toBe(100);
  later(10 * MINUTE_MS);
  expect((await keysOf()).isFetched).toBe(true);
  expect(fetches).toBe(101);
});

test('an agent that nobody has asked about for a week is forgotten', async () => {
  await keysOf();
  await runScheduled(testNow() + 8 * DAY_MS, checkedEnvironment(serviceEnv));
  const rows = await serviceEnv.DB.prepare('SELECT 1 FROM bot_directories WHERE directory = ?').bind(directory).all();
  expect(rows.results).toEqual([]);
});

test.each([
  ['is private', [{ type: 28, TTL: 60, data: 'fd00::1' }]],
  ['cannot be looked up', null],
])('a directory of which an address %s is not fetched', async (_, answer) => {
  v6 = answer;
  expect(await keysOf()).toMatchObject({ isFetched: false, keys: [] });
  expect(fetches).toBe(0);
});
