/**
 * Wrappers of other products from npm, unchanged: bundled as an application bundles them, with only the script's address
 * swapped, or with a script tag before the application and nothing swapped. Each token is verified by a library from npm
 * that was written for the original.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';
import { type Backend, withCfTurnstile, withExpressRecaptcha, withHcaptcha } from './wrappers/backends.ts';

interface Wrapper {
  name: string;
  /** Finds the original's address in the bundle. A wrapper with a setting for it needs no swap. */
  address?: RegExp;
  /** For a tag before the application, where the wrapper takes it. */
  script?: string;
  /** A script tag with this id is taken for the wrapper's own. */
  tagId?: string;
  /** A library for backends of the original. */
  verify: Backend;
}

const TURNSTILE = /https:\/\/challenges\.cloudflare\.com(?=\/turnstile)/g;
const wrappers = [
  {
    name: 'react-turnstile',
    address: TURNSTILE,
    script: '/turnstile/v0/api.js?render=explicit',
    tagId: 'cf-turnstile-script',
    verify: withCfTurnstile,
  },
  {
    name: 'vue-turnstile',
    address: TURNSTILE,
    script: '/turnstile/v0/api.js?render=explicit',
    verify: withCfTurnstile,
  },
  { name: 'react-hcaptcha', script: '/hcaptcha/1/api.js?render=explicit', verify: withHcaptcha },
  {
    name: 'react-google-recaptcha',
    address: /(?<=")https:\/\/" \+ hostname \+ "(?=\/recaptcha)/g,
    script: '/recaptcha/api.js?render=explicit',
    verify: withExpressRecaptcha,
  },
  {
    name: 'react-google-recaptcha-v3',
    address:
      /(?<=")https:\/\/www\." \+ \(\w+\.useRecaptchaNet \? "recaptcha\.net" : "google\.com"\) \+ "(?=\/recaptcha)/g,
    verify: withExpressRecaptcha,
  },
  { name: 'recaptcha-v3', verify: withExpressRecaptcha },
] satisfies Wrapper[];
type Name = (typeof wrappers)[number]['name'];

const stack = useStack();
const visitor = useVisitor({ context: { userAgent: USER_AGENT }, isSilent: true });
const bundles = new Map<string, string>();
let site: Server;

beforeAll(async () => {
  const entryPoints = wrappers.map(({ name }) => `test/compat/wrappers/${name}.js`);
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: '/',
    format: 'iife',
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    logLevel: 'error',
  });
  for (const { path, text } of outputFiles) bundles.set(path.slice(1, -3), text);
  site = createServer((request, response) => {
    const { serviceUrl, siteKey } = stack();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
    const wrapper = wrappers.find(({ name }) => pathname.includes(`/${name}.`));
    if (wrapper === undefined) return void response.writeHead(404).end();
    const isTagged = searchParams.has('tag');
    if (pathname.endsWith('.js')) {
      response.writeHead(200, { 'content-type': 'text/javascript' });
      return void response.end(bundleOf(wrapper, isTagged));
    }
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `default-src 'none'; script-src 'self' 'nonce-shop' ${serviceUrl}; connect-src ${serviceUrl}; frame-src ${serviceUrl}`,
    });
    const { name, script, tagId = 'captcha' } = wrapper as Wrapper;
    const tag = `<script id="${tagId}" src="${serviceUrl}${script}" defer></script>`;
    response.end(
      `<!doctype html><html lang="en"><title>shop</title><script nonce="shop">shop=${JSON.stringify({ siteKey, serviceUrl })}</script>${isTagged ? tag : ''}<script src="/${name}.js${isTagged ? '?tag' : ''}" defer></script><body><form id="form"><div id="app"></div></form>`,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
});
afterAll(() => site.close());

function bundleOf({ name, address }: Wrapper, isTagged: boolean): string {
  const bundle = bundles.get(name) ?? '';
  if (address === undefined || isTagged) return bundle;
  const swapped = bundle.replace(address, stack().serviceUrl);
  if (swapped === bundle) throw new Error(`${name}: the address of the original is not in the bundle`);
  return swapped;
}

async function open(name: Name, query = ''): Promise<void> {
  await visitor.page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/${name}.html${query}`);
}

const heard = (): Promise<[string, unknown][]> =>
  visitor.page.evaluate(() => (globalThis as unknown as { heard: [string, unknown][] }).heard);

/** The next token that the page hears of. */
async function nextToken(known: readonly string[] = []): Promise<string> {
  let token: string | undefined;
  await expect
    .poll(async () => {
      const all = await heard();
      token = all.find(
        ([event, value]) => event === 'token' && value !== '' && !known.includes(value as string),
      )?.[1] as string;
      return token ?? all;
    })
    .toEqual(expect.stringMatching(/^[\w-]{100,2048}$/));
  return token ?? '';
}

async function verify(name: Name, token: string): Promise<unknown> {
  const wrapper = wrappers.find((one) => one.name === name);
  return wrapper?.verify(stack().serviceUrl, stack().secretKey, token);
}

const call = (source: string): Promise<unknown> => visitor.page.evaluate(source);
const field = (name: string): Promise<unknown> => call(`new FormData(form).get(${JSON.stringify(name)})`);
const press = (): Promise<void> => visitor.page.getByRole('checkbox', { name: 'I am human' }).click();

describe.each([
  ['with the address swapped', ''],
  ['with a script tag before the application', '?tag'],
])('%s', (_, query) => {
  test('@marsidev/react-turnstile gets a token on load, in the field that it names', async () => {
    await open('react-turnstile', query);
    const token = await nextToken();
    expect(await field('proof')).toBe(token);
    expect(await field('captcha-response')).toBeNull();
    const facts = { success: true, action: 'login', cdata: 'order-7', hostname: '127.0.0.1' };
    expect(await verify('react-turnstile', token)).toMatchObject(facts);
    expect(await visitor.page.getByRole('checkbox').count()).toBe(1);
  });

  test('vue-turnstile gets a token on load', async () => {
    await open('vue-turnstile', query);
    const token = await nextToken();
    expect(await field('cf-turnstile-response')).toBe(token);
    expect(await verify('vue-turnstile', token)).toMatchObject({ success: true, hostname: '127.0.0.1' });
  });

  test('@hcaptcha/react-hcaptcha gets a token for the box, and another for execute', async () => {
    await open('react-hcaptcha', query);
    await press();
    const token = await nextToken();
    expect([await field('h-captcha-response'), await field('g-recaptcha-response')]).toEqual([token, token]);
    expect(await verify('react-hcaptcha', token)).toMatchObject({ success: true, hostname: '127.0.0.1' });
    const { response } = (await call('captcha.execute({ async: true })')) as { response: string };
    expect(response).not.toBe(token);
    expect(await verify('react-hcaptcha', response)).toMatchObject({ success: true });
  });

  test('react-google-recaptcha gets a token for the box, and after a reset another', async () => {
    await open('react-google-recaptcha', query);
    await press();
    const token = await nextToken();
    expect(await call('captcha.getValue()')).toBe(token);
    expect(await field('g-recaptcha-response')).toBe(token);
    await call('captcha.reset()');
    expect(await call('captcha.getValue()')).toBe('');
    await press();
    const other = await nextToken([token]);
    for (const response of [token, other])
      expect(await verify('react-google-recaptcha', response)).toMatchObject({ success: true, hostname: '127.0.0.1' });
  });
});

test('react-google-recaptcha-v3 gets a token for an action, with a score', async () => {
  await open('react-google-recaptcha-v3');
  await expect.poll(() => call('typeof captcha')).toBe('object');
  await call('captcha.login()');
  const token = await nextToken();
  const facts = { success: true, action: 'shop/login', score: expect.any(Number) as number };
  expect(await verify('react-google-recaptcha-v3', token)).toMatchObject(facts);
});

test.each(['', '?enterprise'])(
  'recaptcha-v3%s renders without a place, and gets a token for each action',
  async (query) => {
    await open('recaptcha-v3', query);
    await expect.poll(() => call('typeof captcha')).toBe('object');
    const known: string[] = [];
    for (let index = 0; index < 2; index++) {
      await call('captcha.login()');
      known.push(await nextToken(known));
    }
    for (const token of known)
      expect(await verify('recaptcha-v3', token)).toMatchObject({ success: true, action: 'shop/login' });
  },
);

test('react-google-recaptcha executes the invisible size as often as it is asked', async () => {
  await open('react-google-recaptcha', '?size=invisible');
  await expect.poll(() => call('globalThis.captcha?.getWidgetId?.()')).toBe(0);
  const tokens = [await call('captcha.executeAsync()'), await call('captcha.executeAsync()')] as string[];
  expect(tokens[0]).not.toBe(tokens[1]);
  for (const token of tokens) expect(await verify('react-google-recaptcha', token)).toMatchObject({ success: true });
});
