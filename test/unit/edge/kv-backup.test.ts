/** The scheduled copy of rules and configuration to KV, while somebody changes them. */
import { expect, test, vi } from 'vitest';
import { encodeUtf8, type Bytes } from '../../../src/bytes/utf8.ts';
import { backUpToKv } from '../../../src/edge/feed/kv-backup.ts';
import { KvStore } from '../../../src/edge/feed/part-stores.ts';
import { ConfigSeal, decodeConfig, decodePointer, partName } from '../../../src/edge/feed/stored-parts.ts';
import { ServiceClient } from '../../../src/edge/feed/service-client.ts';
import { valueOrNull } from '../../../src/edge/feed/upstream.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { baseOf, config, namespace } from './feed-parts.ts';

test('a state that changes while KV gets it is copied anew, and nothing counts as a failure', async () => {
  const service = { config: config(), base: await baseOf(1, 'first') };
  const changes = [
    async () => void (service.config = config({ configVersion: 'second' })),
    async () => void (service.base = await baseOf(2, 'second')),
  ];
  const upstream = {
    version: async () =>
      serviceSaid({
        configVersion: service.config.configVersion,
        base: { hash: service.base.hash, version: service.base.version },
        delta: { version: service.base.version },
      }),
    config: async () => {
      await changes.shift()?.();
      return decodeConfig(encodeUtf8(JSON.stringify(service.config)));
    },
    base: async (hash: string) => serviceSaid(service.base.hash === hash ? service.base.file : null),
    delta: async () => serviceSaid<Bytes>(null),
  };
  const counted: string[] = [];
  const count = (name: string) => void counted.push(name);
  const kv = new KvStore(namespace(new Map(), { throws: false, garbage: false }), 'inst_1', count);
  expect(await backUpToKv({ upstream, kv, seal: new ConfigSeal('credential'), count })).toBe(true);
  expect([changes, counted]).toEqual([[], []]);
  expect(valueOrNull(decodePointer(await kv.get(partName.pointer)))).toMatchObject({
    configVersion: 'second',
    base: { hash: service.base.hash },
  });
});

test('a scheduled run waits longer for a busy service than a request does', async () => {
  const deadlines: number[] = [];
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    deadlines.push(ms);
    return new AbortController().signal;
  });
  const count = () => undefined;
  const service = { fetch: () => Promise.resolve(new Response('{}')) };
  const upstream = new ServiceClient({ serviceUrl: 'https://service.example', service, clientJwt: 'jwt', count });
  const kv = new KvStore(namespace(new Map(), { throws: false, garbage: false }), 'inst_1', count);
  expect(await backUpToKv({ upstream, kv, seal: new ConfigSeal('credential'), count })).toBe(false);
  const patient = Math.min(...deadlines.splice(0));
  await upstream.version();
  timeout.mockRestore();
  expect(patient).toBeGreaterThan(10 * deadlines[0]!);
});
