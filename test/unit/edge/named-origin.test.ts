/** What the edge makes of an origin that its instance names, whatever the service has let through. */
import { describe, expect, test } from 'vitest';
import { namedOrigin, type OriginSurroundings } from '../../../src/edge/origin/origins.ts';
import { failed, ok } from '../../../src/result.ts';
import { expectRows } from '../../support/rows.ts';

const worker = { fetch: () => Promise.resolve(new Response()) };
const surroundings: OriginSurroundings = {
  origin: { kind: 'zone' },
  originBinding: (name) => (name === 'ORIGIN_API' ? worker : name === 'ORIGIN_KV' ? {} : null),
  isZoneOpen: true,
};
const local: OriginSurroundings = {
  ...surroundings,
  origin: { kind: 'url', base: 'http://127.0.0.1:8080', resolveOverride: null },
};
const called = (url: string, where = surroundings) => namedOrigin({ name: 'a', kind: 'url', url, hosts: [] }, where).ok;
const uncallable = (why: string) => failed({ kind: 'uncallable', why });

describe('an address', () => {
  test.each(['https://shop.example', 'http://a-b.shop.example.:8080/base', 'https://xn--bcher-kva.example/'])(
    '%s is called',
    (url) => {
      expect(called(url)).toBe(true);
    },
  );

  test('that is private or malformed is not called, from anywhere', () =>
    expectRows(
      [
        'http://10.0.0.1',
        'http://169.254.169.254/latest',
        'http://203.0.113.7',
        'http://0x7f.1',
        'http://1.0x7f',
        'http://2130706433',
        'http://[fd00::1]',
        'http://[::ffff:127.0.0.1]',
        'https://intranet',
        'https://user:secret@shop.example',
        'https://shop.example\\@10.0.0.1',
        'https://shop.example?x',
        'https://shop.example/#x',
        'ftp://shop.example',
        'shop.example',
        '',
      ],
      (url) => {
        expect([called(url), called(url, local)]).toEqual([false, false]);
      },
    ));

  test.each(['http://localhost:3000', 'http://127.0.0.1/x', 'http://[::1]:3000'])(
    '%s is called only from an edge whose own origin is on the machine',
    (url) => {
      expect([called(url), called(url, local)]).toEqual([false, true]);
    },
  );
});

test('a binding has to be there, and to be a Worker', () => {
  const bound = (binding: string) => namedOrigin({ name: 'a', kind: 'binding', binding, hosts: [] }, surroundings);
  expect(bound('ORIGIN_API')).toEqual(ok({ kind: 'binding', fetcher: worker, base: null }));
  expect(bound('ORIGIN_KV')).toEqual(uncallable('no service binding ORIGIN_KV'));
  expect(bound('ORIGIN_NONE')).toEqual(uncallable('no service binding ORIGIN_NONE'));
});

test('the zone is called only where a fetch reaches it', () => {
  const zone = { name: 'a', kind: 'zone', hosts: [] };
  expect(namedOrigin(zone, surroundings)).toEqual(ok({ kind: 'zone' }));
  expect(namedOrigin(zone, { ...surroundings, isZoneOpen: false })).toEqual(uncallable('no zone that it can call'));
});

test('a kind of a newer release is not called', () => {
  expect(namedOrigin({ name: 'a', kind: 'bucket', hosts: [] }, surroundings)).toEqual(uncallable('unknown kind'));
});
