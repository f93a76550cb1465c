/** The demo shop over HTTP: what a program or a hostile client gets from it. */
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoOrigin, startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { freePortBase } from '../support/ports.ts';

let origin: DemoOrigin;
beforeAll(async () => {
  origin = await startDemoOrigin(await freePortBase());
});
afterAll(() => origin.close());

const post = (path: string, fields: Record<string, string>, cookie = ''): Promise<Response> =>
  fetch(`${origin.url}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie },
    redirect: 'manual',
  });

test('its API lists products, finds them by words, and tells the time', async () => {
  const get = async (path: string): Promise<unknown> => (await fetch(`${origin.url}${path}`)).json();
  const all = (await get('/api/products')) as { products: { slug: string }[] };
  expect(all.products).toHaveLength(8);
  expect(await get('/api/products?q=LAMP')).toEqual({ products: [expect.objectContaining({ slug: 'reading-lamp' })] });
  expect(await get('/api/products/oak-stool')).toMatchObject({ name: 'Oak stool', priceCents: 9500 });
  expect(await get('/api/time')).toEqual({ now: expect.stringMatching(/^\d{4}-/) as string });
});

test('a wrong password is a 401, the right one opens a session, and a made-up cookie opens none', async () => {
  expect((await post('/login', { email: 'ada@example.com', password: 'wrong' })).status).toBe(401);
  const right = await post('/login', { email: ' Ada@Example.com', password: 'lantern' });
  const cookie = right.headers.get('set-cookie')!.split(';')[0]!;
  const account = (given: string): Promise<Response> =>
    fetch(`${origin.url}/account`, { headers: { cookie: given }, redirect: 'manual' });
  expect(await (await account(cookie)).text()).toContain('ada@example.com');
  expect((await account('shop_user=__proto__')).headers.get('location')).toBe('/login');
  await post('/logout', {}, cookie);
  expect((await account(cookie)).status).toBe(303);
});

test('what a visitor types is text on every page', async () => {
  const evil = '"><script>alert(1)</script>';
  const answers = await Promise.all([
    fetch(`${origin.url}/search?q=${encodeURIComponent(evil)}`),
    post('/login', { email: evil, password: 'x' }),
    post('/checkout', { name: evil }),
  ]);
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  expect(bodies.filter((body) => body.includes('<script>alert'))).toEqual([]);
  expect(bodies.filter((body) => body.includes('&quot;&gt;&lt;script&gt;'))).toHaveLength(3);
});

test('a cart keeps products of the shop, and a number that was made up counts up to its bound', async () => {
  const cart = async (cookie: string): Promise<string> => {
    const page = await (await fetch(`${origin.url}/cart`, { headers: { cookie } })).text();
    return /Cart \((\d+)\)/.exec(page)![1]!;
  };
  expect(await cart('shop_cart=oak-stool:2.no-such:5.constructor:1.day-pack:99')).toBe('22');
  expect(await cart(`shop_cart=${'oak-stool:1.'.repeat(200)}`)).toBe('1');
});

test('a form above the bound of the shop is refused, and an odd target is a page that is not there', async () => {
  expect((await post('/contact', { message: 'x'.repeat(20_000) })).status).toBe(413);
  const raw = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(origin.url);
      const call = httpRequest({ hostname, port, path }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      call.on('error', reject);
      call.end();
    });
  expect(await Promise.all(['//evil.example/', '/%', '/widget/__proto__', '/products/', '*'].map(raw))).toEqual([
    404, 404, 404, 404, 404,
  ]);
});

test('every page has the CSP of the shop, which allows no inline script', async () => {
  const { headers } = await fetch(`${origin.url}/`);
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
});
