/** `npm start` as a newcomer runs it, in a process and a directory of its own. For tests and `npm run bench -- start`. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { StackFacts } from '../../src/cli/state.ts';
import { eventually } from './eventually.ts';
import { letThrough } from './let-through.ts';
import { manage } from './manage.ts';
import { freePortBase } from './ports.ts';

export interface NpmStart {
  /** The content of `stack.json` once everything runs. */
  ready: Promise<StackFacts>;
  stop(): Promise<void>;
}

export async function npmStart(): Promise<NpmStart> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'));
  const file = join(dir, 'stack.json');
  const flags = ['--quiet', '--port-base', String(await freePortBase()), '--state', dir];
  const npm = spawn('npm', ['start', '--silent', '--', ...flags], { stdio: 'inherit', detached: true });
  const ended = new Promise((resolve) => npm.once('exit', resolve));
  const ready = eventually(
    async () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StackFacts) : null),
    (facts) => facts !== null,
  ) as Promise<StackFacts>;
  return {
    ready,
    async stop() {
      // npm and what it started, whether that has come up or not.
      if (npm.exitCode === null) process.kill(-(npm.pid ?? 0), 'SIGTERM');
      await ended;
      await eventually(
        async () => existsSync(file),
        (isThere) => !isThere,
      );
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export const FIRST_VISITOR = 'first-visitor';

/**
 * From the rule that asks for a challenge to the page behind it. The browser of `page` calls itself `FIRST_VISITOR`. It
 * is a driven one, so the instance ignores what gives such browsers away.
 */
export async function firstChallenge(stack: StackFacts, page: Page): Promise<void> {
  await manage(stack, '/protect/instances/update', { id: stack.instanceId, ...letThrough.policy });
  await manage(stack, '/sites/update', { siteKey: stack.siteKey, settings: letThrough.settings });
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: FIRST_VISITOR, verdict: 'challenge' }],
  });
  await eventually(
    // Until the edge has the instance's new settings, it may block a driven browser, and the session that it gave.
    async () => {
      await page.context().clearCookies();
      return page.goto(`${stack.edgeUrl}/echo/first`);
    },
    (response) => response?.headers()['x-protect-decision'] === 'challenge',
  );
  await eventually(
    // Between two pages there is no text.
    () => page.evaluate(() => document.body.innerText).catch(() => ''),
    (text) => text.includes('bodySha256'),
  );
}
