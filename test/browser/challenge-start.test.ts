/** Design 11: from `npm start` to the first challenge solved in a browser, in 15 seconds. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Stack } from '../../src/cli/stack.ts';
import { launchChromium } from '../support/chromium.ts';
import { eventually, manage } from '../support/stack.ts';

const SOLVED_WITHIN_MS = 15_000;

let browser: Browser;
let dir: string;
let npm: ChildProcess | undefined;

beforeAll(async () => {
  browser = await launchChromium();
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'));
});
afterAll(async () => {
  if (existsSync(join(dir, 'stack.json'))) {
    const { pid } = JSON.parse(readFileSync(join(dir, 'stack.json'), 'utf8')) as Stack;
    process.kill(pid, 'SIGTERM');
    await new Promise((resolve) => npm?.once('exit', resolve));
  }
  await browser.close();
  rmSync(dir, { recursive: true, force: true });
});

test('npm start, a rule, a visit, a solved challenge: within fifteen seconds', async () => {
  const started = performance.now();
  const portBase = 20_000 + Math.floor(Math.random() * 4000) * 3;
  npm = spawn('npm', ['start', '--silent', '--', '--quiet', '--port-base', String(portBase), '--state', dir], {
    stdio: 'inherit',
  });
  const stack = await eventually(
    async () =>
      existsSync(join(dir, 'stack.json')) ? (JSON.parse(readFileSync(join(dir, 'stack.json'), 'utf8')) as Stack) : null,
    (found) => found !== null,
    SOLVED_WITHIN_MS,
  );
  if (!stack) throw new Error('unreachable: eventually() throws before');
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'first-visitor', verdict: 'challenge' }],
  });
  const page = await browser.newPage({ userAgent: 'Mozilla/5.0 first-visitor' });
  await eventually(
    () => page.goto(`${stack.edgeUrl}/echo/first`),
    (response) => response?.status() === 403,
  );
  await page.waitForFunction(() => document.body.innerText.includes('bodySha256'), undefined, {
    timeout: SOLVED_WITHIN_MS,
  });
  expect(performance.now() - started).toBeLessThanOrEqual(SOLVED_WITHIN_MS);
});
