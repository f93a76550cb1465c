/**
 * `@gatehouse/server` as it is published: packed, installed into an empty folder, and used as its README says, with the
 * real frameworks, behind a running gate and in front of a running service.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useInstalled, writeExamples } from '../support/packed-packages.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { addRules, quickRules, solvedToken } from '../e2e/edge-visitor.ts';

const run = promisify(execFile);
/** The stack's origin is the README's server, which starts when the instance's keys are known. */
const originPort = await freePortBase();
const stack = useStack({ edgeVars: { ...quickRules, ORIGIN_URL: `http://127.0.0.1:${originPort}` } });
const folder = useInstalled(['server'], ['express', 'fastify', '@fastify/formbody', 'hono', 'next', 'react']);

const servers = ['express.mjs', 'fastify.mjs'] as const;
const running = new Map<string, { url: string; process: ChildProcess }>();
let keys: Record<string, string>;

beforeAll(async () => {
  const modules = ['verify.mjs', 'hono.mjs', 'app/login/route.mjs', 'signature.mjs', 'machine.mjs'];
  writeExamples(folder(), 'server', [...servers, ...modules, 'origin.mjs']);
  Object.assign(process.env, { CAPTCHA_SECRET: stack().secretKey, CAPTCHA_URL: stack().serviceUrl });
  const answer = await manage<{ keys: { kid: string; key: string }[] }>(stack(), '/protect/origin-keys', {
    protectInstanceId: stack().instanceId,
  });
  keys = Object.fromEntries(answer.keys.map(({ kid, key }) => [kid, key]));
  const port = await freePortBase();
  await Promise.all([serve('origin.mjs', originPort), ...servers.map((file, index) => serve(file, port + index))]);
});
afterAll(() => {
  for (const { process: child } of running.values()) child.kill();
});

async function serve(file: string, port: number): Promise<void> {
  const env = { ...process.env, PORT: String(port), GATEHOUSE_KEYS: JSON.stringify(keys) };
  const child = spawn(process.execPath, [file], { cwd: folder(), env, stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  running.set(file, { url, process: child });
  await eventually(
    () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    (isUp) => isUp,
  );
}

/** On a busy machine, the edge can give up on a service that still works. Then the visitor tries again. */
const newToken = (action = 'contact'): Promise<string> =>
  eventually(
    () => solvedToken(stack(), { 'user-agent': 'person' }, { siteKey: stack().siteKey, action }).catch(() => ''),
    (token) => token !== '',
  );
const load = (file: string): Promise<unknown> => import(/* @vite-ignore */ pathToFileURL(join(folder(), file)).href);
const form = (token: string): URLSearchParams =>
  new URLSearchParams({ name: 'Ada', 'captcha-response': JSON.stringify({ token }) });

describe('the README’s examples', () => {
  test('verify.mjs tells a token of the action from one of another and from none', async () => {
    const verify = async (field: string): Promise<string> =>
      (await run(process.execPath, ['verify.mjs', field], { cwd: folder() })).stdout.trim();
    const token = await newToken('login');
    expect(await verify(JSON.stringify({ token }))).toBe('true verified');
    expect(await verify(token)).toBe('false refused');
    expect(await verify(await newToken('signup'))).toBe('false refused');
    expect(await verify('')).toBe('false missing');
  });

  test.each(servers)('%s lets a verified form through with its body, once', async (file) => {
    const { url } = running.get(file)!;
    const token = await newToken();
    const passed = await fetch(`${url}/login`, { method: 'POST', body: form(token) });
    expect([passed.status, await passed.text()]).toEqual([200, 'Welcome, Ada. verified']);
    const again = await fetch(`${url}/login`, { method: 'POST', body: form(token) });
    expect([again.status, await again.json()]).toEqual([403, expect.objectContaining({ error: expect.anything() })]);
    const none = await fetch(`${url}/login`, { method: 'POST', body: new URLSearchParams({ name: 'Ada' }) });
    expect(none.status).toBe(403);
  });

  test('hono.mjs leaves the body to the handler', async () => {
    const { default: app } = (await load('hono.mjs')) as {
      default: { request(path: string, init: RequestInit): Promise<Response> };
    };
    const post = async (token: string) => app.request('/login', { method: 'POST', body: form(token) });
    const token = await newToken();
    expect(await (await post(token)).text()).toBe('Welcome, Ada. verified');
    expect((await post(token)).status).toBe(403);
  });

  test('the route of Next leaves the body to the handler', async () => {
    const { POST } = (await load('app/login/route.mjs')) as {
      POST: (request: Request, context: object) => Promise<Response>;
    };
    const { NextRequest } = (await load('node_modules/next/server.js')) as { NextRequest: typeof Request };
    const post = (token: string) =>
      POST(new NextRequest('http://shop.test/login', { method: 'POST', body: form(token) }), { params: {} });
    const token = await newToken();
    expect(await (await post(token)).json()).toEqual({ welcome: 'Ada', outcome: 'verified' });
    expect((await post(token)).status).toBe(403);
  });

  test('origin.mjs serves requests of the gate and refuses those that go around it', async () => {
    const through = await fetch(`${stack().edgeUrl}/`);
    expect([through.status, await through.text()]).toEqual([200, 'Hello, 127.0.0.1']);
    const around = await fetch(running.get('origin.mjs')!.url);
    expect([around.status, await around.json()]).toEqual([403, expect.objectContaining({ error: expect.anything() })]);
  });

  test('signature.mjs refuses a request without a signature', async () => {
    const { default: worker } = (await load('signature.mjs')) as {
      default: { fetch(request: Request, env: object): Promise<Response> };
    };
    const env = { GATEHOUSE_KEYS: JSON.stringify(keys) };
    expect((await worker.fetch(new Request('http://shop.test/'), env)).status).toBe(403);
  });

  test('machine.mjs solves the challenge of the gate and gets the page', async () => {
    const machine = async (): Promise<string> =>
      (await run(process.execPath, ['machine.mjs', `${stack().edgeUrl}/`], { cwd: folder() })).stdout.trim();
    expect(await machine()).toBe('not-challenged  200');
    await addRules(stack(), { type: 'userAgent', value: 'stock-sync', verdict: 'challenge' });
    expect(await machine()).toBe('solved  200');
  });
});
