/** A deployment that is ended by a signal in the middle of an upload, as by Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';
import { TOKEN } from '../../support/platform/platform.ts';

const NAME = 'interrupted';
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(async () => {
  await operator.stop();
  rmSync(join('.gatehouse-deploy', NAME), { recursive: true, force: true });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s leaves no file with secrets and no lease', async (signal, code) => {
  const temporary = join(operator.home, 'tmp');
  mkdirSync(temporary);
  const env = {
    PATH: process.env['PATH'],
    HOME: operator.home,
    TMPDIR: temporary,
    CLOUDFLARE_API_BASE_URL: operator.platform.url,
    CLOUDFLARE_API_TOKEN: TOKEN,
  };
  const child = spawn(
    process.execPath,
    ['src/cli/deploy/main.ts', '--site', 'www.example.com', '--name', NAME, '--email', 'owner@example.com'],
    { env, stdio: 'ignore' },
  );
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const secrets = () =>
    readdirSync(temporary, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('secrets.json'));
  await eventually(
    async () => secrets().length,
    (count) => count > 0 || child.exitCode !== null,
  );
  expect(secrets()).toHaveLength(1);
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
  expect(secrets()).toEqual([]);
  expect(await rows(operator, 'SELECT held_until AS until FROM deployment')).toEqual([{ until: 0 }]);
});
