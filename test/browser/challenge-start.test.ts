/** Design 11: from `npm start` to the first challenge solved in a browser, in 15 seconds. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually, manage } from '../support/stack.ts';
import { useVisitor } from '../support/visitor.ts';

const SOLVED_WITHIN_MS = 15_000;

const visitor = useVisitor({ context: { userAgent: 'Mozilla/5.0 first-visitor' } });
let dir: string;
let npm: ChildProcess | undefined;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'));
});
afterAll(async () => {
  if (npm?.exitCode === null) {
    const ended = new Promise((resolve) => npm?.once('exit', resolve));
    // npm and what it started, whether that has come up or not.
    process.kill(-(npm.pid ?? 0), 'SIGTERM');
    await ended;
  }
  await eventually(
    async () => existsSync(join(dir, 'stack.json')),
    (isThere) => !isThere,
  );
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});

test('npm start, a rule, a visit, a solved challenge: within fifteen seconds', async () => {
  const started = performance.now();
  const portBase = await freePortBase();
  npm = spawn('npm', ['start', '--silent', '--', '--quiet', '--port-base', String(portBase), '--state', dir], {
    stdio: 'inherit',
    detached: true,
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
  await eventually(
    () => visitor.page.goto(`${stack.edgeUrl}/echo/first`),
    (response) => response?.status() === 403,
  );
  await visitor.page.waitForFunction(() => document.body.innerText.includes('bodySha256'), undefined, {
    timeout: SOLVED_WITHIN_MS,
  });
  expect(performance.now() - started).toBeLessThanOrEqual(SOLVED_WITHIN_MS);
});
