/** The wait budget counts over all isolates of an edge: once per ticket, and for each network around the visitor. */
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { takeWait } from '../../../src/service/edge-api/spent-once.ts';
import { testNow } from '../../support/clock.ts';

const NOW = testNow();
async function take(ip: string, over: { id?: string; bornAt?: number; site?: string } = {}): Promise<boolean> {
  const request = new Request('https://gatehouse.test/edge/v1/waits/take', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: over.id ?? crypto.randomUUID(), bornAt: over.bornAt ?? NOW, ip }),
  });
  const site = over.site ?? 'site-waits';
  const waitUntil = (): void => undefined;
  const call = {
    store: env,
    instance: { id: `of-${site}`, globalSiteKey: site },
    request,
    nowMs: NOW,
    waitUntil,
  } as never;
  return (await (await takeWait.handler(call, {})).json<{ taken: boolean }>()).taken;
}

test('ten of a thousand visitors that wait at once in one network pass', async () => {
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => take(`192.0.2.${index % 256}`)));
  expect(answers.filter(Boolean)).toHaveLength(10);
  expect(await take('192.0.3.1')).toBe(true);
  expect(await take('192.0.2.1', { site: 'another-site' })).toBe(true);
});

test('hopping through the networks of one /48 passes thirty times, and leaves the others their way', async () => {
  const hops = await Promise.all(
    Array.from({ length: 400 }, (_, hop) => take(`2001:db8:9:${hop.toString(16)}::1`, { site: 'site-hopped' })),
  );
  expect(hops.filter(Boolean)).toHaveLength(30);
  expect(await take('2001:db8:a::1', { site: 'site-hopped' })).toBe(true);
});

test('a ticket is taken once, and showing it again uses up nothing', async () => {
  const id = crypto.randomUUID();
  const answers = await Promise.all(Array.from({ length: 30 }, () => take('198.51.100.1', { id })));
  expect(answers.filter(Boolean)).toHaveLength(1);
  const others = await Promise.all(Array.from({ length: 9 }, () => take('198.51.100.2')));
  expect(others.every(Boolean)).toBe(true);
});

test.each([
  ['from the future', '203.0.113.1', NOW + 3_600_000],
  ['too old', '203.0.113.1', NOW - 3_600_000],
  ['of no address', 'nowhere', NOW],
])('a ticket %s is not taken', async (_, ip, bornAt) => {
  expect(await take(ip, { bornAt })).toBe(false);
});
