/** What an isolate remembers of agents' keys: until when, and when it asks again. */
import { beforeAll, describe, expect, test } from 'vitest';
import { AgentKeys } from '../../../../src/bots/signatures/agent-keys.ts';
import { type AgentKeyPair, agentKeyPair } from '../../../support/signed-request.ts';

const NOW_MS = 1_800_000_000_000;
const directory = 'https://agent.test/jwks.json';
const minutes = (count: number): number => NOW_MS + count * 60_000;

let pair: AgentKeyPair;
let keys: AgentKeys;
const answer = (isFetched: boolean, listed: readonly AgentKeyPair[], maxAgeSeconds = 600) => ({
  isFetched,
  keys: listed.map(({ key }) => key),
  maxAgeSeconds,
});
const knows = (nowMs: number): boolean => keys.find(directory, pair.keyid, nowMs) instanceof Object;
const asks = (nowMs: number, keyid = pair.keyid): boolean => keys.shouldAsk({ directory, keyid }, nowMs);

beforeAll(async () => {
  pair = await agentKeyPair();
});

describe('keys', () => {
  test('count until the answer has aged, and are asked for before', async () => {
    keys = new AgentKeys();
    expect([knows(NOW_MS), asks(NOW_MS)]).toEqual([false, true]);
    await keys.learn(directory, answer(true, [pair]), NOW_MS);
    expect([knows(minutes(9)), asks(minutes(7)), asks(minutes(8))]).toEqual([true, false, true]);
    expect(knows(minutes(10))).toBe(false);
  });

  test('survive a directory that cannot be fetched, as long as that lasts', async () => {
    keys = new AgentKeys();
    await keys.learn(directory, answer(true, [pair]), NOW_MS);
    for (const at of [10, 15, 20]) await keys.learn(directory, answer(false, [], 300), minutes(at));
    expect(knows(minutes(24))).toBe(true);
  });

  test('survive a service that does not answer', async () => {
    keys = new AgentKeys();
    await keys.learn(directory, answer(true, [pair], 60), NOW_MS);
    keys.failed(directory, minutes(1));
    expect(knows(minutes(5))).toBe(true);
  });

  test('are gone once their directory no longer lists them', async () => {
    keys = new AgentKeys();
    await keys.learn(directory, answer(true, [pair]), NOW_MS);
    await keys.learn(directory, answer(true, []), minutes(10));
    expect(keys.find(directory, pair.keyid, minutes(11))).toBeNull();
  });

  test('that the platform cannot use are left out, and the others count', async () => {
    keys = new AgentKeys();
    const broken = { keyid: 'A'.repeat(43), kty: 'OKP', crv: 'Ed25519', x: 'AA' } as const;
    await keys.learn(directory, { isFetched: true, keys: [broken, pair.key], maxAgeSeconds: 600 }, NOW_MS);
    expect([knows(NOW_MS), keys.find(directory, broken.keyid, NOW_MS)]).toEqual([true, null]);
  });
});

describe('the service is asked', () => {
  test('once a minute at most for one directory, also for keys that it does not list', async () => {
    keys = new AgentKeys();
    expect([asks(NOW_MS), asks(NOW_MS + 59_000), asks(minutes(1))]).toEqual([true, false, true]);
    await keys.learn(directory, answer(true, [pair]), minutes(1));
    const unknown = 'B'.repeat(43);
    expect([asks(minutes(3), unknown), asks(minutes(3), unknown), asks(minutes(4), unknown)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('not before an unreachable directory may be fetched again', async () => {
    keys = new AgentKeys();
    expect(asks(NOW_MS)).toBe(true);
    await keys.learn(directory, answer(false, [], 300), NOW_MS);
    expect([asks(minutes(4)), asks(minutes(5))]).toEqual([false, true]);
  });

  test('30 times a minute for unknown agents, whatever is named, and still for a known one', async () => {
    keys = new AgentKeys();
    await keys.learn(directory, answer(true, [pair]), NOW_MS - 590_000);
    const asked = Array.from({ length: 1000 }, (_, index) =>
      keys.shouldAsk({ directory: `https://a${index}.test/k`, keyid: pair.keyid }, NOW_MS),
    );
    expect(asked.filter(Boolean)).toHaveLength(30);
    expect(asks(NOW_MS)).toBe(true);
    expect(keys.shouldAsk({ directory: 'https://b.test/k', keyid: pair.keyid }, minutes(2))).toBe(true);
  });
});
