// A stack of its own: it starts on the database that a deployed service had.
/** `gatehouse signin --remote`, run as a command on the database of a service that is deployed, and the link that it prints. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { StateDir } from '../../src/cli/state.ts';
import { sessionByLink } from '../support/console.ts';
import { Platform, TOKEN } from '../support/platform/platform.ts';
import { openStoredDatabase } from '../support/platform/stored-database.ts';
import { startTestStack } from '../support/stack.ts';

const state = new StateDir(mkdtempSync(join(tmpdir(), 'gatehouse-remote-')));
const email = 'first@example.com';
/** The deployed database is that of the state directory. */
const platform = new Platform();
let database: Awaited<ReturnType<typeof openStoredDatabase>>;

interface Done {
  status: number;
  stdout: string;
  stderr: string;
}

function remote(words: readonly string[], env: Record<string, string> = {}): Promise<Done> {
  const command = ['src/cli/gatehouse.ts', ...words, '--remote'];
  const variables = {
    ...process.env,
    MASTER_KEY: state.secrets().masterKey,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: platform.account.id,
    CLOUDFLARE_API_BASE_URL: platform.url,
    ...env,
  };
  return new Promise((done) => {
    execFile(process.execPath, command, { env: variables }, (error, stdout, stderr) =>
      done({ status: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

beforeAll(async () => {
  cpSync(inject('preparedState'), state.path, { recursive: true });
  database = await openStoredDatabase(state.storage('service'));
  platform.account.databases.push({ uuid: 'd1', name: 'gatehouse', engine: database.engine });
  await platform.start();
  const made = await remote(['account', 'create', '--email', email]);
  expect([made.status, made.stderr]).toEqual([0, '']);
});
afterAll(async () => {
  await database.close();
  await platform.stop();
  rmSync(state.path, { recursive: true, force: true });
});

test('it prints a link to the deployed console that signs in once', async () => {
  const { status, stdout, stderr } = await remote(['signin', '--email', 'First@Example.com']);
  expect([status, stderr]).toEqual([0, '']);
  const link = JSON.parse(stdout) as { email: string; url: string; expiresAt: string };
  expect(link).toEqual({
    email,
    url: expect.stringMatching(/^https:\/\/gatehouse\.example\.com\/console#link=[\w-]{43}$/),
    expiresAt: expect.any(String),
  });

  // Two programs must not have the database open.
  await database.close();
  const stack = await startTestStack({ stateDir: state.path });
  try {
    // The same service at another address.
    const url = link.url.replace('https://gatehouse.example.com', new URL(stack.consoleUrl).origin);
    const cookie = await sessionByLink(stack, url);
    const me = await fetch(`${stack.serviceUrl}/console/auth/me`, {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(await me.json()).toMatchObject({ email, role: 'owner' });
    await expect(sessionByLink(stack, url)).rejects.toThrow('CONSOLE.LINK_SPENT');
  } finally {
    await stack.stop();
    database = await openStoredDatabase(state.storage('service'));
    platform.account.databases[0]!.engine = database.engine;
  }
});

test('it makes no link for somebody who is no member, and says how to add them', async () => {
  const { status, stdout, stderr } = await remote(['signin', '--email', 'stranger@example.com']);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^No account has a team member stranger@example\.com\. Add them with .*\n$/);
});

test('it needs the secret of the service', async () => {
  const { status, stdout, stderr } = await remote(['signin', '--email', email], { MASTER_KEY: '' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toBe('MASTER_KEY is not set. Set it to the secret of the deployed service.\n');
});
