/** Named origins over the management API: set, kept by what changes policies alone, compared and refused. */
import { beforeEach, expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { newInstance } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';

let instance: Awaited<ReturnType<typeof newInstance>>;
const ask = (operation: string, body: object = {}) => call(instance.token, `/protect/policies${operation}`, body);
const toApi = { name: 'api', when: 'path startsWith "/api/"', then: { action: 'origin', origin: 'api' } };
const origins = {
  shop: { kind: 'url', url: 'https://Shop-Backend.example.com/base/', hosts: ['Shop.example.com'] },
  api: { kind: 'binding', binding: 'ORIGIN_API' },
  zone: { kind: 'zone' },
};
const stored = {
  shop: { kind: 'url', url: 'https://shop-backend.example.com/base', hosts: ['shop.example.com'] },
  api: { kind: 'binding', binding: 'ORIGIN_API', hosts: [] },
  zone: { kind: 'zone', hosts: [] },
};

beforeEach(async () => {
  instance = await newInstance();
});

test('origins come back in one form, and changes to policies alone leave them', async () => {
  const { status, body } = await ask('/set', { policies: [toApi], origins });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.differences.origins).toMatchObject([
    { change: 'added', name: 'api' },
    { change: 'added', name: 'shop' },
    { change: 'added', name: 'zone' },
  ]);
  expect((await ask('')).body.origins).toEqual(stored);
  await ask('/add', { policy: { ...toApi, name: 'second' } });
  await ask('/move', { name: 'second', before: 'api' });
  await ask('/update', { name: 'second', policy: { ...toApi, name: 'third' } });
  await ask('/remove', { name: 'third' });
  await ask('/set', { policies: [toApi] });
  expect((await ask('')).body.origins).toEqual(stored);
  expect((await ask('/set', { origins })).body.changed).toBe(false);
});

test('a difference names what changed, and a roll-back restores it', async () => {
  await ask('/set', { origins });
  await ask('/set', { origins: { api: origins.api, zone: { kind: 'zone', hosts: ['old.example.com'] } } });
  const { differences } = (await ask('/diff', { from: 1 })).body;
  expect(differences.origins).toEqual([
    expect.objectContaining({
      change: 'changed',
      name: 'zone',
      after: { name: 'zone', ...stored.zone, hosts: ['old.example.com'] },
    }),
    expect.objectContaining({ change: 'removed', name: 'shop', before: { name: 'shop', ...stored.shop }, after: null }),
  ]);
  await ask('/rollback', { version: 1 });
  expect((await ask('')).body.origins).toEqual(stored);
});

test('a test of a request says which origin its policies choose', async () => {
  const trial = { policies: [toApi], origins, request: { url: 'https://shop.example.com/api/x' } };
  expect((await ask('/test', trial)).body.result).toMatchObject({ verdict: null, origin: 'api' });
  const other = { ...trial, request: { url: 'https://shop.example.com/x' } };
  expect((await ask('/test', other)).body.result.origin).toBeNull();
});

test('a mistake is refused, named by its place, and nothing is stored', () =>
  expectRows(
    [
      ['a policy without its origin', { policies: [toApi] }, 'policies[0].then.origin'],
      ['an address of a private network', { origins: { a: { kind: 'url', url: 'http://10.0.0.1' } } }, 'origins.a.url'],
      [
        'an address with a password',
        { origins: { a: { kind: 'url', url: 'https://a:b@c.example' } } },
        'origins.a.url',
      ],
      [
        'a binding of the edge itself',
        { origins: { a: { kind: 'binding', binding: 'SERVICE' } } },
        'origins.a.binding',
      ],
      ['a kind that is not there', { origins: { a: { kind: 'bucket' } } }, 'origins.a.kind'],
      ['an unknown field', { origins: { a: { kind: 'zone', url: 'https://a.example' } } }, 'origins.a.url'],
      ['a bad name', { origins: { A: { kind: 'zone' } } }, 'origins.A'],
    ],
    async ([, set, path]) => {
      const { status, body } = await ask('/set', set);
      expect([status, body.error.details[0].path]).toEqual([400, path]);
      expect((await ask('')).body.version).toBe(0);
    },
  ));
