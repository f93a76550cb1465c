/**
 * The feed of rules and configuration: the nearest valid copy wins, bad copies are counted, and none replaces a good
 * one.
 */
import { encodeUtf8, type Bytes } from '../../../src/bytes/utf8.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { EdgeConfig } from '../../../src/contract/edge/edge-responses.ts';
import { ConfigSeal, openConfig, partName, decodeConfig, type PartStore } from '../../../src/edge/feed/stored-parts.ts';
import { Feed } from '../../../src/edge/feed/feed.ts';
import { backUpToKv } from '../../../src/edge/feed/kv-backup.ts';
import { KvStore } from '../../../src/edge/feed/part-stores.ts';
import { type SentConfig, valueOrNull } from '../../../src/edge/feed/upstream.ts';
import { signRulesetFile } from '../../../src/rules/signing.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { signalsOf } from './edge-fixture.ts';
import { MemoryStore, baseOf, botsOf, config, keys, namespace } from './feed-parts.ts';

let counted: Record<string, number>;
let service: {
  config: { configVersion: string } & Record<string, unknown>;
  base: Awaited<ReturnType<typeof baseOf>>;
  bots: Awaited<ReturnType<typeof botsOf>>;
  up: boolean;
  calls: number;
};
let refused: string[];
let cache: MemoryStore;
let kvParts: Map<string, Bytes>;
let trouble: { throws: boolean; garbage: boolean };
let now: number;
const count = (name: string) => void (counted[name] = (counted[name] ?? 0) + 1);
const seal = new ConfigSeal('credential');
const upstream = {
  version: async () => (service.calls++, serviceSaid(service.up ? versionOf() : null)),
  config: async () =>
    service.up ? decodeConfig(encodeUtf8(JSON.stringify(service.config))) : serviceSaid<SentConfig>(null),
  base: async (hash: string) => serviceSaid(service.up && service.base.hash === hash ? service.base.file : null),
  delta: async () => serviceSaid<Bytes>(null),
  bots: async () => serviceSaid(service.up ? service.bots.file : null),
  refused: async (hash: string) => void refused.push(hash),
};
const versionOf = () => ({
  configVersion: service.config.configVersion,
  base: { hash: service.base.hash, version: service.base.version },
  delta: { version: service.base.version },
  bots: { hash: service.bots.hash },
});
const kv = () => new KvStore(namespace(kvParts, trouble), 'inst_1', count);
const newFeed = (accepts: (of: EdgeConfig) => boolean = () => true, parts: PartStore = cache, sealedBy = seal) =>
  new Feed({
    upstream,
    accepts,
    cache: parts,
    kv: kv(),
    seal: sealedBy,
    count,
    pollMs: 5000,
    maxStaleMs: 30_000,
    now: () => now,
  });
const blocks = (feed: Feed, userAgent: string) =>
  feed.state.ruleset?.match(signalsOf({ userAgent }), 0).client?.verdict === 'block';

async function startAnew(): Promise<void> {
  counted = {};
  refused = [];
  service = { config: config(), base: await baseOf(1, 'first'), bots: await botsOf('firstbot'), up: true, calls: 0 };
  cache = new MemoryStore();
  kvParts = new Map();
  trouble = { throws: false, garbage: false };
  now = 1_800_000_000_000;
}
beforeEach(startAnew);

/** What must never be taken for a table. */
const badBots: [string, () => Promise<Awaited<ReturnType<typeof botsOf>>>][] = [
  ['cut short', async () => cut(await botsOf('secondbot'))],
  ['signed by a stranger', () => botsOf('secondbot', 'another credential')],
  ['not the file that was named', async () => ({ ...(await botsOf('secondbot')), hash: '0'.repeat(64) })],
  ['a ruleset', () => baseOf(2, 'secondbot')],
  ['of a later form', async () => signedPayload(new TextEncoder().encode(`GHBOTS99${' '.repeat(400)}`))],
  ['larger than any', async () => signedPayload(new Uint8Array(30 * 1024 * 1024))],
];
const cut = <File extends { file: Bytes }>(of: File): File => ({ ...of, file: of.file.slice(0, 200) });
async function signedPayload(payload: Uint8Array) {
  const { file, hash } = await signRulesetFile(payload, { kid: keys.rulesetKid, privateKey: keys.rulesetKey });
  return { file: new Uint8Array(file), hash };
}

/** What an edge cannot load, and what it then has. */
const unreadable: [string, () => Promise<Awaited<ReturnType<typeof baseOf>>>][] = [
  ['damaged', async () => cut(await baseOf(2, 'second'))],
  [
    'of a later format',
    async () => ({ ...(await signedPayload(new TextEncoder().encode('GHRULES9 and what follows'))), version: 2 }),
  ],
];

describe.each(unreadable)('a base of the service that is %s', (_, made) => {
  test('leaves a new isolate the last rules in KV, and the service learns of it', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    service.base = await made();
    const feed = newFeed();
    await feed.check();
    expect(blocks(feed, 'first')).toBe(true);
    expect(refused).toEqual([service.base.hash]);
    expect(counted['rulesets_refused{from="service"}']).toBe(1);
    // These rules may be old, so health does not take them for checked ones.
    expect(feed.syncedAtMs).toBe(null);
  });

  test('leaves an isolate its rules, and KV the last ones that could be read', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    const feed = newFeed();
    await feed.check();
    service.base = await made();
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(false);
    cache = new MemoryStore();
    await feed.check();
    const restarted = newFeed();
    await restarted.check();
    expect([blocks(feed, 'first'), blocks(restarted, 'first')]).toEqual([true, true]);
  });
});

test('the config of the service counts with rules from KV', async () => {
  await backUpToKv({ upstream, kv: kv(), seal, count });
  service.base = cut(await baseOf(2, 'second'));
  service.config = config({ configVersion: 'newest' });
  const feed = newFeed();
  await feed.check();
  expect([feed.state.config?.configVersion, blocks(feed, 'first')]).toEqual(['newest', true]);
});

describe('feed', () => {
  test('loads from the service and keeps copies for the next isolate in the colo', async () => {
    const feed = newFeed();
    await feed.check();
    expect(blocks(feed, 'first')).toBe(true);
    service.up = false;
    const next = newFeed();
    await next.check();
    expect(blocks(next, 'first')).toBe(true);
    expect(JSON.stringify([...cache.parts.values()].map((part) => Buffer.from(part).toString('latin1')))).not.toContain(
      'secret_1',
    );
  });

  test('without cache and service it loads from KV, sealed', async () => {
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
    expect([...kvParts.values()].some((part) => Buffer.from(part).includes('secret_1'))).toBe(false);
    service.up = false;
    const feed = newFeed();
    await feed.check();
    expect(blocks(feed, 'first')).toBe(true);
    expect(feed.syncedAtMs).toBeNull();
    const stranger = newFeed(() => true, cache, new ConfigSeal('other'));
    await stranger.check();
    expect(stranger.state.config).toBeNull();
  });

  test.each(['throws', 'garbage'] as const)('KV that throws, is empty or holds garbage is a miss: %s', async (kind) => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    trouble[kind] = true;
    service.up = false;
    const feed = newFeed();
    await feed.check();
    expect(feed.state).toEqual({ config: null, ruleset: null });
    service.up = true;
    await feed.check();
    expect(blocks(feed, 'first')).toBe(true);
  });

  test('without cache and service it knows the bots of the last table in KV', async () => {
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
    service.bots = await botsOf('secondbot');
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
    expect([...kvParts.keys()].filter((name) => name.includes('/bots/'))).toEqual([
      `gate/inst_1/${partName.bots(service.bots.hash)}`,
    ]);
    service.up = false;
    const feed = newFeed();
    await feed.check();
    expect(feed.bots?.identify('secondbot/1')?.id).toBe('secondbot');
  });

  test('a new isolate that cannot read the bots of the service takes those of KV, and the newest rules', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    service.base = await baseOf(2, 'second');
    service.bots = cut(await botsOf('secondbot'));
    const feed = newFeed();
    await feed.check();
    expect([blocks(feed, 'second'), feed.bots?.identify('firstbot')?.id]).toEqual([true, 'firstbot']);
  });

  test('a new isolate that cannot read the config of the service takes config and rules of KV', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    service.base = await baseOf(2, 'second');
    service.config = { ...config(), configVersion: 'unreadable', format: 'GHCONFIG9' };
    const feed = newFeed();
    await feed.check();
    expect([feed.state.config?.configVersion, blocks(feed, 'first')]).toEqual(['c1', true]);
    await feed.check();
    expect([feed.state.config?.configVersion, blocks(feed, 'second')]).toEqual(['c1', true]);
  });

  test('with rules but without bots, a service that is away leaves the bots of KV, and no older rules', async () => {
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
    service.base = await baseOf(2, 'second');
    service.bots = { ...(await botsOf('secondbot')), hash: '0'.repeat(64) };
    const feed = newFeed();
    trouble.throws = true;
    await feed.check();
    expect([blocks(feed, 'second'), feed.bots]).toEqual([true, null]);
    trouble.throws = false;
    service.up = false;
    cache.parts.delete(partName.cachedPointer);
    await feed.check();
    expect([blocks(feed, 'second'), feed.bots?.identify('firstbot')?.id]).toEqual([true, 'firstbot']);
  });

  test('a bad table of bots replaces none, in memory or in KV, and rules go on', () =>
    expectRows(badBots, async ([, make]) => {
      await startAnew();
      const feed = newFeed();
      await feed.check();
      expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
      const good = service.bots;
      service.bots = await make();
      service.base = await baseOf(2, 'second');
      cache.parts.delete(partName.cachedPointer);
      await feed.check();
      expect([blocks(feed, 'second'), feed.bots?.identify('firstbot')?.id]).toEqual([true, 'firstbot']);
      expect(counted['rulesets_refused{from="service"}']).toBe(1);
      expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(false);
      service.up = false;
      cache.parts.clear();
      const cold = newFeed();
      await cold.check();
      expect([blocks(cold, 'second'), cold.bots?.identify('firstbot')?.id]).toEqual([true, 'firstbot']);
      expect([...kvParts.keys()].filter((name) => name.includes('/bots/'))).toEqual([
        `gate/inst_1/${partName.bots(good.hash)}`,
      ]);
    }));

  test('KV is written only on a change, the pointer last, and unused entries are deleted', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    const before = [...kvParts.keys()];
    await backUpToKv({ upstream, kv: kv(), seal, count });
    expect([...kvParts.keys()]).toEqual(before);
    service.base = await baseOf(2, 'second');
    await backUpToKv({ upstream, kv: kv(), seal, count });
    expect([...kvParts.keys()].filter((name) => name.includes('/base/'))).toEqual([
      `gate/inst_1/base/${service.base.hash}`,
    ]);
  });

  test('a bad file leaves the previous ruleset in force, and is counted', () =>
    expectRows<[string, () => Promise<Awaited<ReturnType<typeof baseOf>>>]>(
      [
        [
          'a flipped byte',
          async () => {
            const base = await baseOf(2, 'second');
            base.file[100] = ~base.file[100]!;
            return base;
          },
        ],
        ['a stranger’s signature', () => baseOf(2, 'second', 'inst_1', 'another credential')],
        ['another instance’s ruleset', () => baseOf(2, 'second', 'inst_2')],
        ['another file than the one named', async () => ({ ...(await baseOf(2, 'second')), hash: '0'.repeat(64) })],
        ['a truncated file', async () => cut(await baseOf(2, 'second'))],
      ],
      async ([, make]) => {
        await startAnew();
        const feed = newFeed();
        await feed.check();
        service.base = await make();
        cache.parts.delete(partName.cachedPointer);
        await feed.check();
        expect(blocks(feed, 'first')).toBe(true);
        expect(counted['rulesets_refused{from="service"}']).toBe(1);
      },
    ));

  test('a config sealed under a replaced client JWT is written again', async () => {
    await backUpToKv({ upstream, kv: kv(), seal, count });
    const renewed = new ConfigSeal('another credential');
    expect(await backUpToKv({ upstream, kv: kv(), seal: renewed, count })).toBe(true);
    const kept = kvParts.get(`gate/inst_1/${partName.config(service.config.configVersion)}`);
    expect((await openConfig(kept ?? null, renewed)).ok).toBe(true);
  });

  test('a new isolate asks the cache for every part that the pointer names before one of them arrives', async () => {
    await newFeed().check();
    service.up = false;
    const asked: string[] = [];
    const held: (() => void)[] = [];
    const slow: PartStore = {
      put: (name, bytes) => cache.put(name, bytes),
      get: (name) => {
        if (name === partName.cachedPointer) return cache.get(name);
        asked.push(name.split('/')[0]!);
        return new Promise((resolve) => {
          held.push(() => resolve(cache.get(name)));
        });
      },
    };
    const feed = newFeed(() => true, slow);
    const checked = feed.check();
    await expect.poll(() => held).not.toHaveLength(0);
    expect(asked.toSorted()).toEqual(['base', 'bots', 'config']);
    held.forEach((release) => release());
    await checked;
    expect([blocks(feed, 'first'), feed.bots?.identify('firstbot')?.id]).toEqual([true, 'firstbot']);
    expect(asked).toHaveLength(3);
  });

  test('copies of a config have what this release ignores, for the next one', async () => {
    service.config = { ...config(), tomorrow: 1 };
    await newFeed().check();
    expect(await backUpToKv({ upstream, kv: kv(), seal, count })).toBe(true);
    const name = partName.config(service.config.configVersion);
    for (const copy of [cache.parts.get(name), kvParts.get(`gate/inst_1/${name}`)]) {
      const opened = valueOrNull(await openConfig(copy ?? null, seal));
      expect(JSON.parse(new TextDecoder().decode(opened?.json))).toMatchObject({ tomorrow: 1 });
    }
  });

  test('a bad copy in the cache is skipped', async () => {
    cache.parts.set(`base/${service.base.hash}`, new Uint8Array(50));
    const feed = newFeed();
    await feed.check();
    expect(blocks(feed, 'first')).toBe(true);
    expect(counted['rulesets_refused{from="cache"}']).toBe(1);
  });

  test('a request after a fresh check waits for nothing and calls nothing', async () => {
    const feed = newFeed();
    await feed.check();
    const [calls, reads] = [service.calls, cache.reads];
    expect(feed.ready(now + 4999, () => expect.unreachable())).toBeNull();
    expect([service.calls, cache.reads]).toEqual([calls, reads]);
  });

  test('of the requests that find a check due, one starts it behind its response', async () => {
    const feed = newFeed();
    await feed.check();
    const work: Promise<unknown>[] = [];
    const ready = () => feed.ready(now + 6000, (promise) => void work.push(promise));
    expect([ready(), ready(), ready()]).toEqual([null, null, null]);
    expect(work).toHaveLength(1);
    await Promise.all(work);
  });

  test('a request that finds the check too old waits for a new one', async () => {
    const feed = newFeed();
    await feed.check();
    cache.parts.delete(partName.cachedPointer);
    service.base = await baseOf(2, 'second');
    const waiting = feed.ready(now + 31_000, () => undefined);
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(blocks(feed, 'second')).toBe(true);
  });

  test('while the service is away, no request waits for a check, and one begins it behind its response', async () => {
    const feed = newFeed();
    await feed.check();
    cache.parts.delete(partName.cachedPointer);
    service.up = false;
    now += 31_000;
    await feed.check();
    Object.assign(service, { up: true, base: await baseOf(2, 'second') });
    const work: Promise<unknown>[] = [];
    expect(feed.ready(now + 31_000, (promise) => void work.push(promise))).toBeNull();
    await Promise.all(work);
    expect(blocks(feed, 'second')).toBe(true);
  });

  test('a config with a test secret is refused', async () => {
    const feed = newFeed(() => false);
    await feed.check();
    expect(feed.state.config).toBeNull();
    expect(counted['test_secrets_refused']).toBe(1);
  });

  test('after a check without a config, the cache is asked for the config alone', async () => {
    await newFeed().check();
    const feed = newFeed(() => false);
    await feed.check();
    cache.reads = 0;
    await feed.check();
    expect([feed.state.config, cache.reads]).toEqual([null, 2]);
  });
});
