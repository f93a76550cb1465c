/** The colo cache gives back the bytes that were stored, however they are read, and nothing in place of what it has not. */
import { beforeEach, describe, expect, test } from 'vitest';
import { ColoCache } from '../../../src/edge/feed/part-stores.ts';
import { expectRows } from '../../support/rows.ts';

let counted: string[];
let cache: ColoCache;

beforeEach(() => {
  counted = [];
  cache = new ColoCache('inst_1', (name) => void counted.push(name));
});

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31) >>> 3);
const streamOf = (bytes: Uint8Array) =>
  new Response(bytes).body!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>());

describe('the colo cache', () => {
  test('gives back any number of bytes as they were', () =>
    expectRows([0, 1, 7, 262_143, 262_144, 262_145, 1_000_001], async (length) => {
      const bytes = bytesOf(length);
      expect(await cache.put(`part/${length}`, bytes, null)).toBe(true);
      const found = await cache.get(`part/${length}`);
      expect(found?.length).toBe(length);
      expect(found).toEqual(bytes);
      expect(counted).toEqual([]);
    }));

  test('reads a body whose length nobody says', async () => {
    const bytes = bytesOf(70_000);
    const store = await caches.open('gatehouse');
    await store.put(
      'https://gatehouse.invalid/inst_1/part/streamed',
      new Response(streamOf(bytes), { headers: { 'cache-control': 'public, max-age=60' } }),
    );
    expect(await cache.get('part/streamed')).toEqual(bytes);
  });

  test('has nothing that was not stored, and nothing of another instance', async () => {
    await cache.put('part/one', bytesOf(9), null);
    expect(await cache.get('part/other')).toBeNull();
    expect(await new ColoCache('inst_2', () => undefined).get('part/one')).toBeNull();
  });
});
