/** The browser files as the service serves them. */
import { describe, expect, test } from 'vitest';
import { compatAssets } from '../../src/service/captcha/widget-assets.ts';
import { clientAssets } from '../../src/widget/bundle.generated.ts';
import { expectRows } from '../support/rows.ts';
import { send } from './captcha-harness.ts';

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  send(new Request(`https://gatehouse.test${path}`, { headers }));

describe('a compatibility script', () => {
  test('is there for pages of any origin, and revalidated', () =>
    expectRows(Object.entries(compatAssets), async ([path, name]) => {
      const response = await get(`${path}?onload=ready&render=explicit`, { origin: 'https://shop.example' });
      expect(await response.text()).toBe(clientAssets[name]?.body);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'public, max-age=300, must-revalidate',
      });
      const again = await get(path, { 'if-none-match': response.headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
    }));

  test('has the address of a module with its functions, which a browser asks for in another mode', async () => {
    const path = '/procaptcha/js/procaptcha.bundle.js';
    const [classic, module] = [
      await get(path, { 'sec-fetch-mode': 'no-cors' }),
      await get(path, { 'sec-fetch-mode': 'cors' }),
    ];
    expect([classic, module].map(({ headers }) => headers.get('vary'))).toEqual(['Sec-Fetch-Mode', 'Sec-Fetch-Mode']);
    expect(classic.headers.get('etag')).not.toBe(module.headers.get('etag'));
    expect(await classic.text()).not.toMatch(/export ?\{/);
    expect(await module.text()).toMatch(/export ?\{[^}]* as render[,}]/);
    const iife = await get('/procaptcha/js/procaptcha.bundle.iife.js', { 'sec-fetch-mode': 'cors' });
    expect(await iife.text()).not.toMatch(/export ?\{/);
  });

  test('is at no other path', () =>
    expectRows(
      ['/compat/turnstile.js', '/turnstile/v0/', '/turnstile/v0/other.js', '/hcaptcha/api.js', '/recaptcha'],
      async (path) => {
        expect((await get(path)).status).toBe(404);
      },
    ));
});

describe('a widget file', () => {
  const { hash = '', body = '' } = clientAssets['widget.js'] ?? {};

  test('is cached without end under its hash, and revalidated under its name alone', async () => {
    const named = await get(`/widget.js?v=${hash}`);
    expect(named.headers.get('cache-control')).toContain('immutable');
    expect(await named.text()).toBe(body);
    const other = await get('/widget.js?v=0123456789abcdef');
    expect(other.headers.get('cache-control')).not.toContain('immutable');
  });

  test('is not sent again to a browser that has it', async () => {
    const again = await get('/widget.js', { 'if-none-match': `W/"${hash}", "other"` });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
  });

  test('loads on a page of any origin, and the frame only runs the worker', async () => {
    expect((await get('/pow-worker.js')).headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const policy = (await get('/frame.html')).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('frame-ancestors');
  });

  test('has no other name', () =>
    expectRows(['/interstitial.js', '/bundle.js', '/widget.map', '/__proto__'], async (path) => {
      expect((await get(path)).status).toBe(404);
    }));
});
