/** The page for visitors of a form who run no scripts, over HTTP: who gets it, what it costs, who may frame it. */
import { describe, expect, test } from 'vitest';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import { type SiteRecord, updateSite } from '../../src/store/d1/sites.ts';
import { later, testNow } from '../support/clock.ts';
import { ask, env, freshAddress, makeSite, opened, post, send } from './captcha-harness.ts';

const SERVICE = 'https://gatehouse.test';
const PAGE = 'https://www.example.com/contact?x=1';
/** A site where waiting counts. */
const LAX = { minimumLevel: 0 };

interface Shown {
  status: number;
  html: string;
  headers: Headers;
  challenge: string;
  token: string | null;
}

async function show(
  query: Record<string, string>,
  from: string,
  headers: Record<string, string> = { referer: PAGE },
  form?: Record<string, string>,
): Promise<Shown> {
  const response = await send(
    new Request(`${SERVICE}/captcha/v1/wait?${new URLSearchParams(query).toString()}`, {
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        'accept-language': 'en',
        'sec-fetch-site': 'cross-site',
        'cf-connecting-ip': from,
        ...headers,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    }),
  );
  const html = await response.text();
  const copied = /<textarea[^>]*>([^<]*)</.exec(html)?.[1]?.replaceAll('&quot;', '"');
  return {
    status: response.status,
    html,
    headers: response.headers,
    challenge: /name="challenge" value="([^"]*)"/.exec(html)?.[1] ?? '',
    token: copied === undefined ? null : (JSON.parse(copied) as { token: string }).token,
  };
}

const press = (challenge: string, from: string, more: Record<string, string> = {}): Promise<Shown> =>
  show({}, from, { referer: `${SERVICE}/captcha/v1/wait` }, { challenge, ...more });
const verify = (site: SiteRecord, token: string | null, more: object = {}): Promise<{ body: SiteverifyResponse }> =>
  post<SiteverifyResponse>('/siteverify', { secret: site.secretKey, token, ...more });

describe('the page without scripts', () => {
  test('gives a token of level 0 after the wait, for the page and action of the request', async () => {
    const site = await makeSite('premium', LAX);
    const from = freshAddress();
    const first = await show({ sitekey: site.siteKey, action: 'contact' }, from);
    expect(first).toMatchObject({ status: 200, token: null });
    later(8001);
    const done = await press(first.challenge, from);
    const { body } = await verify(site, done.token, { action: 'contact' });
    expect(body).toMatchObject({ verified: true, level: 0, hostname: 'www.example.com', action: 'contact' });
    expect((await verify(site, done.token)).body).toMatchObject({ reason: 'API.USER_ALREADY_VERIFIED' });
  });

  test('shows the same challenge again when the button is pressed early', async () => {
    const site = await makeSite('premium', LAX);
    const from = freshAddress();
    const first = await show({ sitekey: site.siteKey }, from);
    later(7000);
    const early = await press(first.challenge, from);
    expect(early).toMatchObject({ status: 200, challenge: first.challenge, token: null });
    expect(early.html).toContain('class="later"');
  });

  test('gives another challenge with another wait when the form took too long', async () => {
    const site = await makeSite('premium', LAX);
    const from = freshAddress();
    const first = await show({ sitekey: site.siteKey, action: 'contact' }, from);
    later(300_000);
    const second = await press(first.challenge, from);
    expect(second.challenge).not.toBe(first.challenge);
    expect((await press(second.challenge, from)).token).toBeNull();
    later(8001);
    const { token } = await press(second.challenge, from);
    expect((await verify(site, token, { action: 'contact' })).body).toMatchObject({ verified: true });
  });

  test('admits ten visitors of a network within ten minutes, however many wait', async () => {
    const site = await makeSite('premium', LAX);
    const from = freshAddress();
    const waiting = await Promise.all(Array.from({ length: 14 }, () => show({ sitekey: site.siteKey }, from)));
    later(8001);
    const done = await Promise.all(waiting.map(({ challenge }) => press(challenge, from)));
    expect(done.filter(({ token }) => token !== null)).toHaveLength(10);
    expect(done.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test('does not replace a picture, and is not for a visitor at risk', async () => {
    const image = await makeSite('premium', { ...LAX, captchaType: 'image' });
    const refused = await show({ sitekey: image.siteKey }, freshAddress());
    expect(refused).toMatchObject({ status: 400, challenge: '' });
    expect(refused.html).toContain('requires JavaScript');
    const site = await makeSite('premium', LAX);
    const bot = { referer: PAGE, 'user-agent': 'curl/8.0' };
    expect(await show({ sitekey: site.siteKey }, freshAddress(), bot)).toMatchObject({ status: 400, challenge: '' });
  });

  test('is off by default, says what to do, and refuses a token that was waited for before it was switched off', async () => {
    const strict = await makeSite('premium');
    const refused = await show({ sitekey: strict.siteKey }, freshAddress());
    expect(refused).toMatchObject({ status: 400, challenge: '' });
    expect(refused.html).toContain('Turn on JavaScript');
    const site = await makeSite('premium', LAX);
    const from = freshAddress();
    const first = await show({ sitekey: site.siteKey }, from);
    later(8001);
    const { token } = await press(first.challenge, from);
    const settings = { ...site.settings, minimumLevel: 1 };
    await updateSite(env, { ...site, settings }, site.version, testNow());
    // Longer than an isolate uses a site that it has read.
    later(2100);
    expect((await verify(site, token)).body).toMatchObject({ verified: false, reason: 'API.LEVEL_TOO_LOW' });
    await updateSite(env, site, site.version + 1, testNow());
    later(2100);
    expect((await verify(site, token)).body).toMatchObject({ verified: true, level: 0 });
  });

  test('accepts no challenge of another lane, no made-up one and no other site’s page', async () => {
    const site = await makeSite('premium', LAX);
    const worked = await ask(site);
    for (const challenge of [worked.challenge, 'nonsense', '']) {
      expect(await press(challenge, freshAddress())).toMatchObject({ status: 400, token: null });
    }
    const sites = { sitekey: site.siteKey };
    for (const referer of ['https://evil.test/', 'null', '', `${SERVICE}/captcha/v1/wait`]) {
      expect(await show(sites, freshAddress(), { referer })).toMatchObject({ status: 400, challenge: '' });
    }
    expect(await show({}, freshAddress())).toMatchObject({ status: 400 });
    expect(await show({ ...sites, action: 'a b' }, freshAddress())).toMatchObject({ status: 400 });
  });

  test('can be framed by pages of that host only, runs no script, and is never cached', async () => {
    const site = await makeSite('premium', LAX);
    const { headers, html } = await show({ sitekey: site.siteKey }, freshAddress());
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain('frame-ancestors https://www.example.com:* http://www.example.com:*');
    expect(policy).toContain("default-src 'none'; style-src 'nonce-");
    expect(policy).toContain("form-action 'self'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(html).not.toContain('<script');
  });

  test('refuses at verification a visitor whom the honeypot caught', async () => {
    const site = await makeSite('premium', { ...LAX, honeypot: { enabled: true } });
    const from = freshAddress();
    const first = await show({ sitekey: site.siteKey }, from);
    expect(first.html).toContain('name="email_confirm"');
    later(8001);
    const { token } = await press(first.challenge, from, { email_confirm: 'bot@example.org' });
    expect((await verify(site, token)).body).toMatchObject({ verified: false, reason: 'API.USER_NOT_VERIFIED' });
  });

  test('is in the visitor’s language', async () => {
    const site = await makeSite('premium', LAX);
    const { html } = await show({ sitekey: site.siteKey }, freshAddress(), {
      referer: PAGE,
      'accept-language': 'xx, de-AT;q=0.9, en;q=0.5',
    });
    expect(html).toContain('<html lang="de" dir="ltr">');
    expect(html).toContain('Ich bin ein Mensch');
  });

  test('issues only challenges of the wait lane', async () => {
    const site = await makeSite('premium', LAX);
    const { challenge } = await show({ sitekey: site.siteKey }, freshAddress());
    expect(await opened({ challenge } as never)).toMatchObject({
      lane: 'wait',
      kind: 'pow',
      hostname: 'www.example.com',
    });
  });
});
