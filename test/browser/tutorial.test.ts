/**
 * The tutorial as its reader follows it: the two servers of the page run as they are printed, behind the gate,
 * and a browser and a program do what the page tells them to. `e2e/documented-commands` runs its commands.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually, openStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const tutorial = readFileSync('docs/tutorial.md', 'utf8');
const [first = '', second = ''] = [...tutorial.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
/** What the page says that a program gets from the shop itself. */
const shown = [...tutorial.matchAll(/^\$ curl -s http:\/\/127\.0\.0\.1:3000\/sign-up -d (\S+)\n(.*)$/gm)];

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tutorial-'));
const visitor = useVisitor({ context: { userAgent: USER_AGENT } });
let stack: Stack;
let shop: ChildProcess | undefined;
let port = 0;

beforeAll(async () => {
  port = await freePortBase();
  stack = await openStack({ edgeVars: { ORIGIN_URL: `http://127.0.0.1:${port}` } });
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

async function stop(): Promise<void> {
  if (shop === undefined) return;
  const ended = new Promise((done) => shop?.once('exit', done));
  shop.kill();
  await ended;
  shop = undefined;
}

/** Runs a server of the page, on a free port in place of 3000. */
async function runShop(code: string, env: Record<string, string> = {}): Promise<void> {
  await stop();
  const file = join(folder, 'shop.mjs');
  writeFileSync(file, code.replace('listen(3000,', `listen(${port},`));
  shop = spawn(process.execPath, [file], { env: { ...process.env, ...env }, stdio: 'inherit' });
  await eventually(
    () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (isThere) => isThere,
  );
}

async function signsUpAround(body = ''): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return (await fetch(`http://127.0.0.1:${port}/sign-up`, { method: 'POST', headers, body })).text();
}

async function signsUpThroughTheGate(): Promise<string> {
  const { page } = visitor;
  await page.goto(`${stack.edgeUrl}/`);
  await page.getByLabel('Email').fill('me@example.com');
  await page.getByRole('button', { name: 'Sign up' }).click();
  // A form that is sent before the session is open is challenged, and sent on by the gate.
  await page.getByRole('heading', { name: /Welcome|again/ }).waitFor();
  return page.getByRole('heading').innerText();
}

test('the shop of the first step takes people through the gate, and every program around it', async () => {
  await runShop(first);
  expect(await signsUpThroughTheGate()).toBe('Welcome, me@example.com');
  expect(await signsUpAround(shown[0]?.[1])).toBe(shown[0]?.[2]);
});

test('the shop with the widget takes people through the gate, and no program around it', async () => {
  await runShop(second, { CAPTCHA_URL: stack.serviceUrl, CAPTCHA_SECRET: stack.secretKey });
  expect(await signsUpThroughTheGate()).toBe('Welcome, me@example.com');
  expect(await signsUpAround(shown[1]?.[1])).toBe(shown[1]?.[2]);
});

test('the shop with the widget takes nobody without its secret, and stays up', async () => {
  await runShop(second, { CAPTCHA_URL: stack.serviceUrl, CAPTCHA_SECRET: 'another' });
  expect(await signsUpThroughTheGate()).toBe('Please send the form again');
  await runShop(second, { CAPTCHA_URL: 'http://127.0.0.1:1', CAPTCHA_SECRET: stack.secretKey });
  expect(await signsUpThroughTheGate()).toBe('Please send the form again');
});
