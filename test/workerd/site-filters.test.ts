/**
 * The site settings that depend on an address, over HTTP: the traffic filter's tasks, look and padding, with facts from
 * the operator's dataset about visitors without an edge, and the result of verification.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import {
  ask,
  askForPicture,
  handIn,
  knowAddresses,
  makeSite,
  opened,
  post,
  send,
  tokenFor,
} from './captcha-harness.ts';

knowAddresses({
  '192.0.2.0/25': { categories: ['vpn', 'datacenter'], country: 'DE' },
  '192.0.2.128/25': { categories: ['datacenter'] },
  '198.51.100.0/24': { categories: [], abuseScore: 0.9 },
  '203.0.113.0/24': { categories: ['tor'] },
});
const from = (address: string): Record<string, string> => ({ 'cf-connecting-ip': address });

describe('the traffic filter', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', {
      puzzle: { decoyCount: 9, holeDarken: 0.4 },
      trafficFilter: {
        vpn: {
          action: 'challenge',
          captchaType: 'puzzle',
          puzzleTolerance: 7,
          puzzle: { decoyCount: 33 },
          padBytes: 100_000,
        },
        datacenter: { action: 'challenge', powDifficulty: 6.5 },
        abuser: { action: 'block' },
      },
    });
  });

  test('gives another task to a visitor whose address is in the operator’s dataset', async () => {
    expect(await ask(site, {}, from('192.0.2.1'))).toMatchObject({ kind: 'puzzle' });
    expect(await ask(site, {}, from('192.0.2.200'))).toMatchObject({ kind: 'pow', pow: { t: 238_110 } });
    expect(await ask(site, {}, from('192.168.7.1'))).toMatchObject({ kind: 'pow', pow: { t: 18_750 } });
  });

  test('changes the settings it names and keeps the site’s others, in every round', async () => {
    const challenge = await askForPicture(site, {}, from('192.0.2.2'));
    expect((await opened(challenge)).params).toMatchObject({ tolerance: 7, look: { decoyCount: 33 } });
    const wrong = await handIn(challenge.challenge, { finalX: 0, finalY: 0 }, from('192.0.2.2'));
    expect((await opened(wrong.body.next!)).params).toMatchObject({ tolerance: 7, look: { decoyCount: 33 } });
  });

  test('adds incompressible noise to the response, only for the visitors it names', async () => {
    const text = await answerText(site, '192.0.2.3');
    const { pad, challenge } = JSON.parse(text) as { pad: string; challenge: string };
    expect(pad).toMatch(/^[A-Za-z0-9_-]{100000}$/);
    expect(new Set(pad).size).toBe(64);
    expect(text.indexOf('"pad"')).toBe(1);
    expect(text.indexOf(challenge)).toBeGreaterThan(100_000);
    const packed = new Response(new Blob([pad]).stream().pipeThrough(new CompressionStream('gzip')));
    expect((await packed.arrayBuffer()).byteLength).toBeGreaterThan(74_000);
    expect(await answerText(site, '192.168.7.2')).not.toContain('"pad"');
  });

  test('refuses blocked visitors at verification, by the address that requested the challenge', async () => {
    const token = await tokenFor(site, {}, from('198.51.100.9'));
    const answer = await post<SiteverifyResponse>('/siteverify', { secret: site.secretKey, token });
    expect(answer.body).toMatchObject({ verified: false, reason: 'API.ABUSER_BLOCKED' });
  });

  test('reports a setting about DNS resolvers as not evaluated', async () => {
    const wishing = await makeSite('premium', { trafficFilter: { skipExtrasOnValidDnsPath: false } });
    const token = await tokenFor(wishing, {}, from('192.0.2.201'));
    const answer = await post<SiteverifyResponse>('/siteverify', { secret: wishing.secretKey, token });
    expect(answer.body).toMatchObject({ verified: true, notEvaluated: ['skipExtrasOnValidDnsPath'] });
  });
});

describe('a page read through a translation service', () => {
  const origin = (host: string): Record<string, string> => ({ origin: `https://${host}` });

  test('counts as the page that is translated', async () => {
    const site = await makeSite('premium', { domains: ['my-shop.example'] });
    const token = await tokenFor(site, {}, origin('www-my--shop-example.translate.goog'));
    const answer = await post<SiteverifyResponse>('/siteverify', { secret: site.secretKey, token });
    expect(answer.body).toMatchObject({ verified: true, hostname: 'www.my-shop.example' });
  });

  test.each([
    'my-shop-example.translate.goog',
    'my--shop-example.translate.goog.evil.test',
    'my--shop.example.evil.test',
  ])('is not accepted at %s', async (host) => {
    const site = await makeSite('premium', { domains: ['my-shop.example'] });
    const refused = await post('/captcha/v1/challenge', { siteKey: site.siteKey }, origin(host));
    expect(refused).toMatchObject({ status: 400, body: { error: { key: 'API.UNAUTHORIZED_ORIGIN_URL' } } });
  });
});

async function answerText(site: SiteRecord, address: string): Promise<string> {
  const response = await send(
    new Request('https://gatehouse.test/captcha/v1/challenge', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        'accept-language': 'en',
        'sec-fetch-site': 'cross-site',
        origin: 'https://www.example.com',
        ...from(address),
      },
      body: JSON.stringify({ siteKey: site.siteKey }),
    }),
  );
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  return response.text();
}
