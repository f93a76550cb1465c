/** The endpoints with the requests and responses of Turnstile, hCaptcha and reCAPTCHA, on the real bindings. */
import { describe, expect, test, vi } from 'vitest';
import { testSecretKey } from '../../src/contract/captcha/test-keys.ts';
import { recaptchaScore } from '../../src/verify/alias-responses.ts';
import { makeSite, post, send, tokenFor } from './captcha-harness.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const get = (path: string, method = 'GET'): Promise<Response> =>
  send(new Request(`https://gatehouse.test${path}`, { method }));

describe('the compatible endpoints', () => {
  test.each([
    ['/turnstile/v0/siteverify', { 'error-codes': [], action: 'login', cdata: 'order-7' }],
    ['/hcaptcha/siteverify', { 'error-codes': [], score: 0 }],
    ['/recaptcha/api/siteverify', { action: 'login', score: 1 }],
  ])('%s takes a form and responds in its own shape', async (path, expected) => {
    const site = await makeSite('premium');
    const token = await tokenFor(site, { action: 'login', cdata: 'order-7' });
    const form = new URLSearchParams({ secret: site.secretKey, response: token, remoteip: 'unknown', other: '1' });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const first = await post<Record<string, unknown>>(path, form.toString(), type);
    expect(first).toMatchObject({
      status: 200,
      body: { success: true, hostname: 'www.example.com', ...expected },
    });
    expect(Date.parse(String(first.body['challenge_ts']))).toBeGreaterThan(0);
    const second = await post<{ success: boolean; 'error-codes': string[] }>(path, {
      secret: site.secretKey,
      response: token,
    });
    const code = path.startsWith('/hcaptcha') ? 'invalid-or-already-seen-response' : 'timeout-or-duplicate';
    expect(second).toMatchObject({ status: 200, body: { success: false, 'error-codes': [code] } });
  });

  test.each([
    ['/turnstile/v0/siteverify', null],
    ['/hcaptcha/siteverify', ''],
    ['/recaptcha/api/siteverify', ['192.0.2.9']],
  ])('%s ignores %j as remoteip, and null for every optional field', async (path, remoteip) => {
    const site = await makeSite('premium');
    const fields = { secret: site.secretKey, response: await tokenFor(site), remoteip, idempotency_key: null };
    expect(await post(path, { ...fields, sitekey: null })).toMatchObject({ status: 200, body: { success: true } });
  });

  test('check hCaptcha’s sitekey field, and accept a token with surrounding blanks', async () => {
    const site = await makeSite('premium');
    const response = ` ${await tokenFor(site)}\n`;
    const ask = (sitekey: string): Promise<unknown> =>
      post('/hcaptcha/siteverify', { secret: site.secretKey, response, sitekey });
    expect(await ask('site_other')).toMatchObject({
      body: { success: false, 'error-codes': ['sitekey-secret-mismatch'] },
    });
    expect(await ask(site.siteKey)).toMatchObject({ body: { success: true } });
  });

  test.each(['/turnstile/v0/siteverify', '/hcaptcha/siteverify'])(
    '%s reads no secret from the address, where logs would keep it, and refuses GET',
    async (path) => {
      const site = await makeSite('premium');
      const query = new URLSearchParams({ secret: site.secretKey, response: await tokenFor(site) });
      expect(await post(`${path}?${query.toString()}`, '')).toMatchObject({
        body: { success: false, 'error-codes': ['missing-input-secret'] },
      });
      expect((await get(`${path}?${query.toString()}`)).status).toBe(405);
    },
  );

  test.each(['GET', 'POST'])('reCAPTCHA’s reads the address of a %s without a body', async (method) => {
    const site = await makeSite('premium');
    const query = new URLSearchParams({ secret: site.secretKey, response: await tokenFor(site) });
    const response = await get(`/recaptcha/api/siteverify?${query.toString()}`, method);
    expect(await response.json()).toMatchObject({ success: true, hostname: 'www.example.com' });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('reCAPTCHA’s prefers the body to the address, and spends nothing on HEAD', async () => {
    const site = await makeSite('premium');
    const fields = { secret: site.secretKey, response: await tokenFor(site) };
    const address = `/recaptcha/api/siteverify?${new URLSearchParams(fields).toString()}`;
    expect((await get(address, 'HEAD')).status).toBe(200);
    expect(await post(address, { secret: site.secretKey })).toMatchObject({
      body: { 'error-codes': ['missing-input-response'] },
    });
    expect(await post(address, fields)).toMatchObject({ body: { success: true } });
  });

  test('reCAPTCHA’s refuses an address that is ambiguous or hostile', () =>
    expectRows(['secret=a&secret=b&response=c', '__proto__=a', 'secret[a]=b&response=c', 'secret=%'], async (query) => {
      const { success } = await (await get(`/recaptcha/api/siteverify?${query}`)).json<{ success: boolean }>();
      expect(success).toBe(false);
    }));

  test('keep secrets and tokens of addresses out of what they log', async () => {
    const site = await makeSite('premium');
    const logged: string[] = [];
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, level).mockImplementation(
        (...values: unknown[]) => void logged.push(values.map(String).join(' ')),
      );
    const token = await tokenFor(site);
    for (const response of [token, token, 'garbage'])
      await get(`/recaptcha/api/siteverify?${new URLSearchParams({ secret: site.secretKey, response }).toString()}`);
    vi.restoreAllMocks();
    expect(logged.filter((line) => line.includes(site.secretKey) || line.includes(token))).toEqual([]);
  });

  test.each(['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify'])(
    '%s answers a test secret with a host and a time of now',
    async (path) => {
      const before = testNow();
      const { body } = await post<Record<string, string>>(path, { secret: testSecretKey('pass'), response: 'any' });
      expect(body).toMatchObject({ success: true, hostname: 'localhost', test: true });
      // reCAPTCHA's has whole seconds.
      expect(Date.parse(body['challenge_ts']!)).toBeGreaterThan(before - 1000);
      expect(body['challenge_ts']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    },
  );

  test('reCAPTCHA’s is written over several lines as by the original, for clients that search its text', async () => {
    const site = await makeSite('premium');
    const fields = { secret: site.secretKey, response: await tokenFor(site, { action: 'login' }) };
    const query = new URLSearchParams(fields).toString();
    const text = await (await get(`/recaptcha/api/siteverify?${query}`)).text();
    const { challenge_ts: time } = JSON.parse(text) as { challenge_ts: string };
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(text).toBe(
      `{\n  "success": true,\n  "challenge_ts": "${time}",\n  "hostname": "www.example.com",\n  "score": 1,\n  "action": "login"\n}`,
    );
    const refused = await (await get(`/recaptcha/api/siteverify?${query}`)).text();
    expect(refused).toBe('{\n  "success": false,\n  "error-codes": [\n    "timeout-or-duplicate"\n  ]\n}');
  });

  test('reCAPTCHA’s always has a score, in two steps below premium', async () => {
    const site = await makeSite('free');
    const fields = { secret: site.secretKey, response: await tokenFor(site) };
    expect(await post('/recaptcha/api/siteverify', fields)).toMatchObject({ body: { success: true, score: 0.9 } });
    expect(recaptchaScore(null, 0.5)).toBe(0.3);
    const tried = { secret: testSecretKey('score'), response: 'anything' };
    expect(await post('/recaptcha/api/siteverify', tried)).toMatchObject({ body: { success: true, score: 0.1 } });
  });

  test('respond 200 to mistakes too', () =>
    expectRows(
      [
        ['', 'missing-input-secret'],
        ['{', 'bad-request'],
        [{ secret: 'x' }, 'missing-input-response'],
        [{ secret: 'x', response: 'y' }, 'invalid-input-secret'],
        [{ secret: 7, response: 'y' }, 'bad-request'],
      ],
      async ([body, code]) => {
        expect(await post('/turnstile/v0/siteverify', body)).toMatchObject({
          status: 200,
          body: { success: false, 'error-codes': [code] },
        });
      },
    ));
});
