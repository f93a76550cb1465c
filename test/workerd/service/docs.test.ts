/** What the service adds to the files of its documentation, and what it says without them. */
import { Hono } from 'hono';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { docsRoutes } from '../../../src/service/docs/docs-routes.ts';
import { readServiceEnvironment } from '../../../src/service/environment.ts';
import type { ServiceHonoEnv } from '../../../src/service/http/service-call.ts';
import { send } from './service-under-test.ts';

const NOT_FOUND_PAGE = '<!doctype html><title>404</title>';

/** The routes over an assets binding that has these files. */
function siteOf(files: Readonly<Record<string, string>>) {
  const asked: Request[] = [];
  const assets = {
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input as string, init);
      asked.push(request);
      if (request.headers.get('if-none-match') === '"kept"') return new Response(null, { status: 304 });
      const body = files[new URL(request.url).pathname];
      const headers = { 'content-type': 'text/html; charset=utf-8', etag: '"1"' };
      if (body !== undefined) return new Response(body, { headers });
      const missing = files['/docs/404.html'];
      return missing === undefined
        ? new Response(null, { status: 404 })
        : new Response(missing, { status: 404, headers });
    },
  };
  const reading = readServiceEnvironment({ ...(env as object), ASSETS: assets });
  if (!reading.ok) throw new Error(reading.error.join());
  const environment = reading.value;
  const app = new Hono<ServiceHonoEnv>();
  app.use(async (c, next) => {
    c.set('environment', environment);
    await next();
  });
  app.route('/', docsRoutes());
  return { asked, get: (path: string, init: RequestInit = {}) => app.request(`https://gatehouse.test${path}`, init) };
}

test('the old address of the reference leads to the documentation', async () => {
  const response = await send('/docs');
  expect([response.status, response.headers.get('location')]).toEqual([307, '/docs/']);
});

test('a service without its documentation says where to read it, and works', async () => {
  const { get } = siteOf({});
  const response = await get('/docs/policies');
  expect(response.status).toBe(404);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.text()).toContain('npm run build:docs');
  expect((await send('/openapi.json')).status).toBe(200);
});

test('a missing page is a page of the site with status 404, which nobody stores', async () => {
  const { get } = siteOf({ '/docs/404.html': NOT_FOUND_PAGE });
  for (const path of ['/docs/nothing', '/docs/assets/old.123.js']) {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([404, NOT_FOUND_PAGE]);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  }
});

test('a file with a hash in its name is kept for a year, and a page is asked for again', async () => {
  const { get } = siteOf({ '/docs/assets/app.123.js': 'x', '/docs/policies': 'y' });
  expect((await get('/docs/assets/app.123.js')).headers.get('cache-control')).toContain('immutable');
  expect((await get('/docs/policies')).headers.get('cache-control')).toBe('no-cache');
});

test('a page that the reader has is not sent again, and keeps its type', async () => {
  const { get } = siteOf({ '/docs/policies': 'y' });
  const response = await get('/docs/policies', { headers: { 'if-none-match': '"kept"' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([304, null]);
});

test('the files are fetched without the cookies, the query and the body of the reader', async () => {
  const { asked, get } = siteOf({ '/docs/policies': 'y' });
  await get('/docs/policies?token=secret', { headers: { cookie: '__Host-gatehouse=secret', 'if-none-match': '"1"' } });
  expect(asked.map(({ url, headers }) => [url, Object.fromEntries(headers)])).toEqual([
    ['https://gatehouse.test/docs/policies', { 'if-none-match': '"1"' }],
  ]);
});

test('scripts come from the site alone and reach no call of the API; only the API page may write styles', async () => {
  const { get } = siteOf({ '/docs/policies': 'y', '/docs/api': 'z' });
  const policyOf = async (path: string): Promise<Record<string, string>> => {
    const text = (await get(path)).headers.get('content-security-policy') ?? '';
    return Object.fromEntries(text.split('; ').map((part) => part.split(/ (.*)/, 2) as [string, string]));
  };
  const site = 'https://gatehouse.test/docs/';
  const common = {
    'default-src': "'none'",
    'script-src': `${site}assets/`,
    'connect-src': `${site} https://gatehouse.test/openapi.json`,
    'img-src': `${site} data:`,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  expect(await policyOf('/docs/policies')).toEqual({ ...common, 'style-src': site });
  expect(await policyOf('/docs/api')).toEqual({ ...common, 'style-src': "'unsafe-inline'" });
});

test('the site has no path but those below /docs', async () => {
  const { asked, get } = siteOf({ '/health': 'shadow', '/siteverify': 'shadow' });
  for (const path of ['/health', '/siteverify', '/docsx', '/docs/../health']) {
    expect((await get(path)).status).toBe(404);
  }
  expect(asked).toEqual([]);
});
