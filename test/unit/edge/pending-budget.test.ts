/** Networks and kinds in the budget of visitors without a session, and what counts as a page. */
import { describe, expect, test } from 'vitest';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import {
  askedFor,
  isPageResponse,
  PENDING_WINDOW_MS,
  PendingBudget,
  type PendingKind,
} from '../../../src/edge/limits/pending-budget.ts';
import { expectRows } from '../../support/rows.ts';
import { factsOf, signalsOf } from './edge-fixture.ts';

const NOW_MS = 3000 * PENDING_WINDOW_MS;
const BUDGET = 30;
/** Pages of an address that no neighbour can use up. */
const RESERVE = 2;

function budget() {
  const ports = { report: null, now: () => NOW_MS, sleep: async () => {}, count: () => {} };
  const pending = new PendingBudget(new LimitCounts(ports));
  let nowMs = NOW_MS;
  const take = (kind: PendingKind, ip: string | null) => pending.take(kind, ip, BUDGET, nowMs);
  const withholds = (ip: string): boolean => {
    const { headers, ...facts } = factsOf('/', { signals: signalsOf({ ip }), nowMs });
    const asked = { ...facts, headers: { ...headers, fetchDest: 'image', accept: '*/*' } };
    return pending.withholds(new Response('<p>', { headers: { 'content-type': 'text/html' } }), asked, BUDGET);
  };
  /** How many of these visits pass. */
  const passed = (kind: PendingKind, ips: Iterable<string | null>): number => {
    let count = 0;
    for (const ip of ips) {
      if (!pending.hasRoom(kind, ip, BUDGET, nowMs)) continue;
      take(kind, ip);
      count++;
    }
    return count;
  };
  const later = (ms: number): void => {
    nowMs += ms;
  };
  return { take, passed, withholds, later };
}
const times = (count: number, ip: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => ip(index));

describe('the budget', () => {
  test('bounds the pages of a network, and of the network around it', () =>
    expectRows<[string, (index: number) => string, number]>(
      [
        ['one address', () => '192.0.2.7', BUDGET + RESERVE],
        ['all addresses of one /24', (index) => `192.0.2.${index % 256}`, 3 * BUDGET],
        ['the /24s of one /16', (index) => `10.1.${index % 256}.${index >> 8}`, 30 * BUDGET],
        ['one /64', (index) => `2001:db8:1::${index.toString(16)}`, BUDGET + RESERVE],
        ['the /64s of one /56', (index) => `2001:db8:1:${(index % 256).toString(16)}::1`, 3 * BUDGET],
        ['the /64s of one /48', (index) => `2001:db8:1:${(index * 32).toString(16)}::1`, 30 * BUDGET],
      ],
      ([, ip, expected]) => {
        expect(budget().passed('page', times(2000, ip))).toBe(expected);
      },
    ));

  test('of visitors whose address is unknown is one', () => {
    expect(
      budget().passed(
        'page',
        Array.from({ length: 100 }, () => null),
      ),
    ).toBe(BUDGET + RESERVE);
  });

  test('of files is a hundred times that of pages, and separate', () => {
    const { passed } = budget();
    expect(
      passed(
        'file',
        times(4000, () => '192.0.2.7'),
      ),
    ).toBe(100 * (BUDGET + RESERVE));
    expect(
      passed(
        'page',
        times(100, () => '192.0.2.7'),
      ),
    ).toBe(BUDGET + RESERVE);
  });

  test('of files ends for a network that asked for twice its pages', () => {
    const { take, passed } = budget();
    for (let page = 0; page < 2 * BUDGET + RESERVE; page++) take('page', '192.0.2.7');
    const files = times(300, () => '192.0.2.8');
    expect(passed('file', files)).toBe(100 * RESERVE);
    expect(passed('file', ['192.0.3.8'])).toBe(1);
  });
});

describe('the reserve of an address', () => {
  test('is two pages with their files, whatever a neighbour asks for, and takes nothing of theirs', () => {
    const { passed } = budget();
    const flood = times(5000, () => '192.0.2.7');
    passed('page', flood);
    passed('file', flood);
    expect([
      passed(
        'page',
        times(5, () => '192.0.2.8'),
      ),
      passed(
        'file',
        times(300, () => '192.0.2.8'),
      ),
    ]).toEqual([RESERVE, 100 * RESERVE]);
    const quiet = budget();
    for (let host = 1; host <= BUDGET; host++) expect(quiet.passed('page', [`192.0.2.${host}`])).toBe(1);
    expect(
      quiet.passed(
        'page',
        times(100, () => '192.0.2.200'),
      ),
    ).toBe(BUDGET + RESERVE);
  });

  test('comes back after ten minutes', () => {
    const { passed, later } = budget();
    const all = times(100, () => '192.0.2.7');
    passed('page', all);
    later(2 * PENDING_WINDOW_MS + 1);
    expect(passed('page', all)).toBe(BUDGET + RESERVE);
  });

  test('has no files for an address that asks for pages as files', () => {
    const { passed, withholds } = budget();
    const withheld = times(100, () => '192.0.2.7').filter((ip) => withholds(ip)).length;
    expect(withheld).toBe(100 - BUDGET - RESERVE);
    expect(
      passed(
        'file',
        times(100, () => '192.0.2.7'),
      ),
    ).toBe(0);
    expect(
      passed(
        'file',
        times(100, () => '192.0.2.8'),
      ),
    ).toBe(100);
  });
});

describe('a request asks for', () => {
  test('a page or a file, by its destination and its Accept header', () =>
    expectRows<[PendingKind, string | null, string | null, string?]>(
      [
        ['page', 'document', 'text/html,*/*;q=0.8'],
        ['page', 'iframe', '*/*'],
        ['page', 'object', '*/*'],
        ['page', null, 'text/html,*/*;q=0.8'],
        ['page', 'empty', 'text/html'],
        ['page', 'image', 'text/html'],
        ['file', null, '*/*'],
        ['file', null, null],
        ['file', 'empty', '*/*'],
        ['file', 'image', 'image/webp,*/*'],
        ['file', 'unheard-of', '*/*'],
        ['page', 'document', 'text/html', 'cross-site'],
        ['page', 'iframe', '*/*', 'same-origin'],
        ['frame', 'iframe', 'text/html', 'cross-site'],
        ['frame', 'embed', '*/*', 'cross-site'],
        ['file', 'empty', 'text/html', 'cross-site'],
      ],
      ([kind, fetchDest, accept, fetchSite = null]) => {
        expect(askedFor({ fetchDest, fetchSite, accept })).toBe(kind);
      },
    ));
});

describe('a response is a page', () => {
  const response = (type: string | null, status = 200) =>
    new Response(null, { status, headers: type === null ? {} : { 'content-type': type } });
  const at = (fetchDest: string, path = '/', query = '') => ({ headers: { fetchDest }, target: { path, query } });
  const asked = at('image');

  test('if its type is that of a page, whatever was asked for', () =>
    expectRows(
      [
        'text/html',
        'text/html; charset=utf-8',
        'application/xhtml+xml',
        'application/json',
        'text/plain',
        'application/pdf',
        'text/csv',
        'multipart/byteranges',
        null,
      ],
      (type) => {
        expect(isPageResponse(response(type), asked)).toBe(true);
        expect(isPageResponse(response(type, 206), asked)).toBe(true);
      },
    ));

  test('not if its type is that of a file', () =>
    expectRows(
      [
        'image/png',
        'image/svg+xml',
        'font/woff2',
        'text/css',
        'text/javascript; charset=utf-8',
        'application/javascript',
        'application/wasm',
        'video/mp4',
        'application/vnd.apple.mpegurl',
        'application/manifest+json',
      ],
      (type) => {
        expect(isPageResponse(response(type), asked)).toBe(false);
      },
    ));

  test('not if it is a redirect, an error or empty, or a manifest', () => {
    for (const status of [204, 301, 304, 404, 500])
      expect(isPageResponse(response('text/html', status), asked)).toBe(false);
    const json = response('application/json');
    for (const path of ['/manifest.json', '/app/site.webmanifest', '/manifest'])
      expect(isPageResponse(json, at('manifest', path))).toBe(false);
    expect(isPageResponse(response('text/html'), at('manifest', '/manifest.json'))).toBe(true);
  });

  test('if it is data that was asked for as a manifest, at an address that is not named so', () => {
    const json = response('application/json');
    for (const path of ['/api/time', '/manifest/items', '/items;manifest', '/'])
      expect(isPageResponse(json, at('manifest', path))).toBe(true);
  });

  test('if it is a script that calls the function which its query names', () => {
    const queries = ['?callback=a', '?x=1&_jsonp=a', '?jsoncallback=a', '?j%73onp=a', '?json.wrf=a', '?Callback[]=a'];
    for (const query of queries) {
      for (const type of ['application/javascript', 'text/javascript; charset=utf-8', 'application/x-javascript'])
        expect(isPageResponse(response(type), at('script', '/items', query))).toBe(true);
      expect(isPageResponse(response('image/png'), at('image', '/items', query))).toBe(false);
    }
    for (const query of ['', '?v=3', '?cb=1700000000', '?next=callback'])
      expect(isPageResponse(response('text/javascript'), at('script', '/app.js', query))).toBe(false);
  });
});
