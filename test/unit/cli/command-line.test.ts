/** The real commands, each in a process of its own: what they print before there is a stack or a login. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../support/ports.ts';

function gatehouse(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('node', ['src/cli/gatehouse.ts', ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('--help lists every command', () => {
  const { status, stdout } = gatehouse('--help');
  expect(status).toBe(0);
  for (const name of ['account set-tier ACCOUNT TIER', 'site activate', 'rules import FILE', 'why REFERENCE'])
    expect(stdout).toContain(`\n  ${name}`);
});

test.each([
  [['account', 'set-tier'], 'account set-tier ACCOUNT TIER\n\nChanges the plan of an account.'],
  [['rules', 'rollback'], 'rules rollback VERSION [--site-key KEY] [--service URL]\n\nMakes the rules'],
])('%j --help explains that command only', (words, text) => {
  const { status, stdout } = gatehouse(...words, '--help');
  expect([status, stdout.startsWith(`Usage: npm run gatehouse -- ${text}`)]).toEqual([0, true]);
});

test('npm start explains its flags, and names an unknown one', () => {
  const start = (...args: string[]) => spawnSync('node', ['src/cli/start.ts', ...args], { encoding: 'utf8' });
  const help = start('--help');
  expect([help.status, help.stdout.split('\n', 1)]).toEqual([
    0,
    ['Usage: npm start -- [--port-base PORT] [--origin URL] [--state DIR] [--host ADDRESS] [--fresh] [--quiet]'],
  ]);
  const wrong = start('--bogus');
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringMatching(/^Unknown flag --bogus\. Usage: .*\n$/)]);
});

test.each([
  [['account', 'set-tier', 'acc_1', '--remote'], /^Missing: TIER\. /],
  [['account', 'list', '--state', '--remote'], /^--state is missing its directory\. /],
  [['rules', 'export', '--remote'], /^rules export has no --remote\. /],
])('%j is refused before anything is opened', (args, message) => {
  const { status, stderr } = gatehouse(...args);
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
});

describe('--remote', () => {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'));
  /** Stands in for the platform's API. */
  let answer: RequestListener = () => {};
  const platform = createServer((request, response) => answer(request, response));
  beforeAll(() => new Promise<void>((done) => platform.listen(0, '127.0.0.1', done)));
  afterAll(async () => {
    platform.closeAllConnections();
    await new Promise((done) => platform.close(done));
    rmSync(home, { recursive: true, force: true });
  });

  /** Not `spawnSync`, because the platform is in this process. */
  async function remote(env: Record<string, string>) {
    const { CLOUDFLARE_API_TOKEN: _, CLOUDFLARE_ACCOUNT_ID: __, ...rest } = process.env;
    const child = spawn('node', ['src/cli/gatehouse.ts', 'account', 'list', '--remote'], {
      env: { ...rest, HOME: home, XDG_CONFIG_HOME: home, MASTER_KEY: 'master-key', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const status = await new Promise<number | null>((done) => child.on('close', done));
    return { status, stdout, stderr };
  }
  const url = () => `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;

  test('without a login it is one sentence that says how to log in', async () => {
    expect(await remote({})).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^You are not logged in to Cloudflare\. Run "npx wrangler login", or .*\.\n$/),
    });
  });

  test('a token that the platform refuses is the same sentence', async () => {
    answer = (_, response) => {
      const errors = [{ code: 10_000, message: 'Authentication error' }];
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ success: false, errors, messages: [], result: null }));
    };
    const { status, stdout, stderr } = await remote({
      CLOUDFLARE_API_TOKEN: 'refused',
      CLOUDFLARE_ACCOUNT_ID: '0123456789abcdef0123456789abcdef',
      CLOUDFLARE_API_BASE_URL: url(),
    });
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^You are not logged in .*\.\n$/)]);
  });

  test('without a network it is one sentence', async () => {
    const { status, stdout, stderr } = await remote({
      CLOUDFLARE_API_TOKEN: 'token',
      CLOUDFLARE_ACCOUNT_ID: '0123456789abcdef0123456789abcdef',
      // No program listens on this port.
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${await freePortBase()}`,
    });
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^Cloudflare cannot be reached\. .*\n$/)]);
  });

  test('without the secret of the service it names the variable', async () => {
    const { status, stderr } = await remote({ MASTER_KEY: '' });
    expect([status, stderr]).toEqual([1, 'MASTER_KEY is not set. Set it to the secret of the deployed service.\n']);
  });
});
