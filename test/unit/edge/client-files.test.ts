/**
 * Files of this release, from the nearest place that has them, and never a file of another release under the same name.
 */
import type { Bytes } from '../../../src/bytes/utf8.ts';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ClientFiles, filePartName } from '../../../src/edge/feed/client-files.ts';
import { backUpFiles } from '../../../src/edge/feed/kv-backup.ts';
import { KvStore } from '../../../src/edge/feed/part-stores.ts';
import type { PartStore } from '../../../src/edge/feed/stored-parts.ts';
import { PAGE_TEXTS_FILE, PageTexts } from '../../../src/edge/feed/page-texts.ts';
import { englishPages } from '../../../src/locales/english-pages.generated.ts';
import { pageLanguages } from '../../../src/locales/pages.generated.ts';
import { assetHashes, clientAssets, edgeAssets } from '../../../src/widget/bundle.generated.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceThat } from '../../support/service-client.ts';

/** Longer than a page waits for its texts. */
const WAIT_MS = 1000;

const memory = (parts: Map<string, Bytes>): PartStore => ({
  get: (name) => Promise.resolve(parts.get(name) ?? null),
  put: (name, bytes) => Promise.resolve(Boolean(parts.set(name, bytes))),
});
let cached: Map<string, Bytes>;
let stored: Map<string, Bytes>;
let kvWrites: number;
let kv: KvStore;
let service: { state: 'up' | 'down' | 'other-release'; calls: string[] };
let nowMs: number;
let files: ClientFiles;

beforeEach(() => {
  cached = new Map();
  stored = new Map();
  kvWrites = 0;
  nowMs = 1000;
  service = { state: 'up', calls: [] };
  const namespace = {
    get: (name: string) => Promise.resolve(stored.get(name)?.slice().buffer ?? null),
    put: (name: string, bytes: Bytes) => Promise.resolve(void (kvWrites++, stored.set(name, bytes))),
    delete: (name: string) => Promise.resolve(void stored.delete(name)),
  };
  kv = new KvStore(namespace as never, 'inst_1', () => undefined);
  const client = serviceThat((path) => {
    service.calls.push(path);
    if (service.state === 'down') throw new Error('unreachable');
    const { body = '' } = clientAssets[path.slice(1, path.indexOf('?'))] ?? {};
    return new Response(service.state === 'up' ? body : `${body}// next release`);
  });
  files = new ClientFiles({
    embedded: edgeAssets,
    service: client,
    cache: memory(cached),
    kv,
    count: () => undefined,
    now: () => nowMs,
  });
});
const textOf = async (name: string): Promise<string> => {
  const read = await files.read(name);
  return read.ok ? new TextDecoder().decode(read.value) : read.error.kind;
};
const widget = clientAssets['widget.js']!.body;

describe('a file that is not compiled in', () => {
  test('comes from the service by its hash, and then from the colo’s cache', async () => {
    expect(await textOf('widget.js')).toBe(widget);
    service.state = 'down';
    expect(await textOf('widget.js')).toBe(widget);
    expect(service.calls).toEqual([`/widget.js?v=${assetHashes['widget.js']}`]);
  });

  test('of another release is missing, and is not requested again at once', async () => {
    service.state = 'other-release';
    expect(await textOf('widget.js')).toBe('absent');
    expect(await textOf('widget.js')).toBe('absent');
    expect(service.calls).toHaveLength(1);
    nowMs += 6000;
    service.state = 'up';
    expect(await textOf('widget.js')).toBe(widget);
  });

  test('is never taken from a cache that holds another file', async () => {
    cached.set(filePartName('widget.js', assetHashes['widget.js']!), new TextEncoder().encode('alert(1)') as Bytes);
    expect(await textOf('widget.js')).toBe(widget);
  });

  test.each(['down', 'other-release'] as const)('comes from KV while the service is %s', async (state) => {
    expect(await backUpFiles(files, kv)).toBe(true);
    service.state = state;
    expect(await textOf('widget.js')).toBe(widget);
  });

  test('is not there under an unknown name', () =>
    expectRows(['../edge/v1/config', '__proto__', 'bundle.js', 'interstitial.js'], async (name) => {
      expect(await textOf(name)).toBe('absent');
      expect(service.calls).toEqual([]);
    }));
});

describe('the scheduled run', () => {
  test('writes every file once, and nothing without a change', async () => {
    expect(await backUpFiles(files, kv)).toBe(true);
    const writes = kvWrites;
    expect(writes).toBe(files.fetched.length + 1);
    expect(await backUpFiles(files, kv)).toBe(true);
    expect(kvWrites).toBe(writes);
  });

  test('keeps its files while the service has another release', async () => {
    await backUpFiles(files, kv);
    const before = [...stored.keys()];
    service.state = 'other-release';
    expect(await backUpFiles(files, kv)).toBe(true);
    stored.delete('gate/inst_1/files');
    expect(await backUpFiles(files, kv)).toBe(false);
    expect([...stored.keys()].toSorted()).toEqual(before.filter((name) => !name.endsWith('/files')).toSorted());
  });
});

describe('the texts of the pages', () => {
  const texts = () =>
    new PageTexts(
      { en: englishPages },
      () => files.read(PAGE_TEXTS_FILE),
      () => nowMs,
    );

  test('include all languages once they are loaded', async () => {
    const loaded = texts();
    await loaded.load();
    expect(await loaded.wanted('fr')).toEqual(pageLanguages);
  });

  test('delay only a page in another language than English', async () => {
    const waiting = texts();
    expect(Object.keys(await waiting.wanted('en-GB,ar;q=0.5'))).toEqual(['en']);
    expect(service.calls).toEqual([]);
    expect(Object.keys(await waiting.wanted('ar'))).toContain('ar');
  });

  test('are English when the others cannot be loaded in time', async () => {
    service.state = 'down';
    expect(Object.keys(await texts().wanted('ar'))).toEqual(['en']);
    const never = new PageTexts(
      { en: englishPages },
      () => new Promise(() => undefined),
      () => nowMs,
    );
    vi.useFakeTimers();
    try {
      const wanted = never.wanted('ar');
      await vi.advanceTimersByTimeAsync(WAIT_MS);
      expect(Object.keys(await wanted)).toEqual(['en']);
    } finally {
      vi.useRealTimers();
    }
  });
});
