/** The daily reading of published networks, day by day: what is asked, what counts, and what stays. */
import { beforeEach, expect, test, vi } from 'vitest';
import { refreshRanges } from '../../../src/service/bots/refresh-ranges.ts';
import { rangeVersions, readRanges } from '../../../src/store/d1/bot-ranges.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceEnv } from './service-under-test.ts';

const DAY_MS = 86_400_000;
const BING = 'https://www.bing.com/toolbox/bingbot.json';
const KNOWN = ['13.66.139.0/24', '157.55.39.0/24', '207.46.13.0/24', '40.77.167.0/24'];

/** Each test begins long after the one before, so that every list is due. */
let nowMs = Date.UTC(2027, 0, 1);
let answer: (request: Request) => Response | Promise<Response>;
let requests: Request[];

const list = (networks: readonly string[], headers: Record<string, string> = {}): Response =>
  Response.json({ prefixes: networks.map((ipv4Prefix) => ({ ipv4Prefix })) }, { headers });
const without = (): Response => new Response(null, { status: 404 });

/** Every list is read once on the day that is reached. */
async function nextDay(): Promise<void> {
  nowMs += 2 * DAY_MS;
  requests = [];
  for (let run = 0; run < 5; run++) await refreshRanges(serviceEnv, nowMs);
}
const networks = async (): Promise<string[] | undefined> => (await readRanges(serviceEnv)).get(BING);
const changedAt = async (): Promise<number | undefined> =>
  (await rangeVersions(serviceEnv)).find(({ url }) => url === BING)?.changedAt;
const row = () =>
  serviceEnv.DB.prepare(
    'SELECT error, failures, network_count AS count, confirmed_at AS confirmedAt, due_at AS dueAt FROM bot_ranges WHERE url = ?',
  )
    .bind(BING)
    .first<{ error: string | null; failures: number; count: number; confirmedAt: number; dueAt: number }>();
const bingRequest = (): Request | undefined => requests.find(({ url }) => url === BING);

async function startAnew(): Promise<void> {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  await serviceEnv.DB.prepare('DELETE FROM bot_ranges').run();
  vi.stubGlobal('fetch', async (url: URL, init: RequestInit) => {
    const request = new Request(url, init);
    requests.push(request);
    return request.url === BING ? answer(request) : without();
  });
  answer = () => list(KNOWN, { etag: '"one"', 'last-modified': 'Fri, 01 Jan 2027 00:00:00 GMT' });
  await nextDay();
}
beforeEach(startAnew);

test('keeps the networks of a list with their number and age', async () => {
  expect(await networks()).toEqual(KNOWN);
  expect(await row()).toMatchObject({ error: null, failures: 0, count: 4, confirmedAt: nowMs });
  expect(bingRequest()?.redirect).toBe('manual');
});

test('asks about once a day, and only whether the list has changed', async () => {
  const first = await changedAt();
  const due = (await row())?.dueAt ?? 0;
  expect(due).toBeGreaterThanOrEqual(nowMs + DAY_MS);
  expect(due).toBeLessThan(nowMs + 1.2 * DAY_MS);
  answer = ({ headers }) => new Response(null, { status: headers.get('if-none-match') === '"one"' ? 304 : 500 });
  await nextDay();
  expect(bingRequest()?.headers.get('if-modified-since')).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
  expect(await networks()).toEqual(KNOWN);
  expect(await changedAt()).toBe(first);
  expect((await row())?.confirmedAt).toBe(nowMs);
});

test('takes a small change, and says when it was', async () => {
  answer = () => list([...KNOWN, '20.43.120.0/28']);
  await nextDay();
  expect(await networks()).toHaveLength(5);
  expect(await changedAt()).toBe(nowMs);
});

test('does not count the same networks in another order as a change', async () => {
  const first = await changedAt();
  answer = () => list(KNOWN.toReversed());
  await nextDay();
  expect(await changedAt()).toBe(first);
});

test('keeps the last good list when the publisher sends no good list, and notes why', () =>
  expectRows(
    [
      ['a web page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
      ['a status of failure', () => new Response('[]', { status: 500 })],
      ['a redirect without an address', () => new Response(null, { status: 302 })],
      ['no list', () => Response.json({ prefixes: [] })],
      ['more than half of it gone', () => list(KNOWN.slice(0, 1))],
      ['as many networks more as it had', () => list([...KNOWN, '20.1.1.0/24', '20.1.2.0/24', '20.1.3.0/24'])],
      ['a network of everything', () => list([...KNOWN, '0.0.0.0/0'])],
      ['a redirect to another host', () => Response.redirect('https://evil.example/list.json')],
      ['a length that is too long', () => list(KNOWN, { 'content-length': String(30_000_000) })],
      ['a lost connection', () => Promise.reject(new TypeError('Network connection lost'))],
    ],
    async ([, bad]) => {
      await startAnew();
      const first = await changedAt();
      answer = bad;
      await nextDay();
      expect(await networks()).toEqual(KNOWN);
      expect(await changedAt()).toBe(first);
      const { error, failures, count } = (await row())!;
      expect([typeof error, failures, count]).toEqual(['string', 1, 4]);
      answer = () => list(KNOWN);
      await nextDay();
      expect(await row()).toMatchObject({ error: null, failures: 0, confirmedAt: nowMs });
    },
  ));

test('asks later and later while a publisher fails', async () => {
  answer = () => new Response(null, { status: 503 });
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    await nextDay();
    waits.push(((await row())?.dueAt ?? 0) - nowMs);
  }
  expect(waits).toEqual([10, 20, 40, 80].map((minutes) => minutes * 60_000));
});

test('reads a few lists in one run, and leaves what a run could not finish to a later one', async () => {
  nowMs += 2 * DAY_MS;
  requests = [];
  await refreshRanges(serviceEnv, nowMs);
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.length).toBeLessThanOrEqual(8);
  const asked = new Set(requests.map(({ url }) => url));
  requests = [];
  await refreshRanges(serviceEnv, nowMs);
  expect(requests.filter(({ url }) => asked.has(url))).toEqual([]);
});
