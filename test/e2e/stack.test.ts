/** The local stack's contract (design 10), kept by the real command in a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StackFacts } from '../../src/cli/state.ts';
import { eventually } from '../support/stack.ts';

/** Issue text: ready within 10 seconds of `npm start` after install. */
const READY_WITHIN_MS = 10_000;
/** Of a test that starts two or three stacks one after the other on a machine with other work. */
const BUSY = { timeout: 90_000 };

let dir: string;
let portBase: number;
let running: ChildProcess[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'));
  portBase = 20_000 + Math.floor(Math.random() * 4000) * 3;
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map(end));
  rmSync(dir, { recursive: true, force: true });
});

function start(...flags: string[]): ChildProcess & { output: string } {
  const args = ['src/cli/start.ts', '--port-base', String(portBase), '--state', dir, ...flags];
  const child = Object.assign(spawn('node', args, { stdio: ['ignore', 'pipe', 'pipe'] }), { output: '' });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (child.output += chunk.toString()));
  }
  running.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return exited;
}

/** Long where the time is not the point: two cores may have other work. */
function facts(withinMs = 30_000): Promise<StackFacts> {
  return eventually(
    async () =>
      existsSync(join(dir, 'stack.json'))
        ? (JSON.parse(readFileSync(join(dir, 'stack.json'), 'utf8')) as StackFacts)
        : null,
    (found) => found !== null,
    withinMs,
  ) as Promise<StackFacts>;
}

describe('npm start', () => {
  test('brings up all three within ten seconds and says so in stack.json', async () => {
    const child = start();
    const stack = await facts(READY_WITHIN_MS);
    expect(Object.keys(stack).toSorted().join(' ')).toBe(
      'accountId apiKey clientJwt edgeUrl instanceId opsToken originUrl ownerEmail pid secretKey serviceUrl ' +
        'signalsSecret siteKey',
    );
    expect(stack.edgeUrl).toBe(`http://127.0.0.1:${portBase}`);
    expect(stack.serviceUrl).toBe(`http://127.0.0.1:${portBase + 1}`);
    expect(stack.originUrl).toBe(`http://127.0.0.1:${portBase + 2}`);
    const answers = await Promise.all(
      [`${stack.edgeUrl}/`, `${stack.serviceUrl}/health`, `${stack.originUrl}/`].map(
        async (url) => (await fetch(url)).status,
      ),
    );
    expect(answers).toEqual([200, 200, 200]);
    expect(statSync(join(dir, 'stack.json')).mode & 0o077).toBe(0);
    await eventually(
      async () => child.output,
      (output) => output.includes('Ctrl-C'),
    );
    expect(child.output.match(/^ {2}curl /gm)).toHaveLength(3);
  });

  test('finds its account, keys and rules again after a restart, and none of them with --fresh', BUSY, async () => {
    const first = start('--quiet');
    const before = await facts();
    const created = await fetch(`${before.serviceUrl}/protect/access-rules/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${before.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rules: [{ type: 'userAgent', value: 'kept-rule', verdict: 'block' }] }),
    });
    expect(created.status).toBe(200);
    expect(await end(first)).toBe(0);

    const second = start('--quiet');
    const after = await facts();
    expect({ ...after, pid: before.pid }).toEqual(before);
    const blocked = await fetch(`${after.edgeUrl}/`, { headers: { 'user-agent': 'kept-rule' } });
    expect(blocked.status).toBe(403);
    expect(second.output).toBe('');
    await end(second);

    start('--quiet', '--fresh');
    const fresh = await facts();
    expect(fresh.accountId).not.toBe(before.accountId);
    expect(fresh.siteKey).not.toBe(before.siteKey);
  });

  test('ends cleanly on SIGTERM: exit code 0, ports free, nothing left running, stack.json gone', async () => {
    const child = start('--quiet');
    const stack = await facts();
    const children = childrenOf(stack.pid);
    expect(children.length).toBeGreaterThan(0);
    expect(await end(child)).toBe(0);
    expect(existsSync(join(dir, 'stack.json'))).toBe(false);
    await eventually(
      async () => children.filter((pid) => existsSync(`/proc/${pid}`)),
      (left) => left.length === 0,
    );
    await expect(fetch(stack.edgeUrl)).rejects.toThrow();
  });

  test('starts again on the directory of a stack that was killed, and ends what that one left', BUSY, async () => {
    const killed = start('--quiet');
    const before = await facts();
    const left = childrenOf(before.pid);
    killed.kill('SIGKILL');
    await new Promise((resolve) => killed.once('exit', resolve));
    rmSync(join(dir, 'stack.json'));
    start('--quiet');
    expect((await facts()).accountId).toBe(before.accountId);
    expect(left.filter((pid) => readCommand(pid).includes('workerd'))).toEqual([]);
  });

  test.each([0, 1, 2])('with a busy port (base + %i) says one clear line and exits with 1', async (offset) => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(portBase + offset, '127.0.0.1', resolve));
    const child = start();
    const code = await new Promise((resolve) => child.once('exit', resolve));
    squatter.close();
    expect(code).toBe(1);
    expect(child.output.trim().split('\n')).toHaveLength(1);
    expect(child.output).toContain(String(portBase + offset));
    expect(readdirSync(dir)).toEqual([]);
  });

  test('fronts a real origin with --origin', async () => {
    const { startDemoOrigin } = await import('../../src/cli/demo-origin.ts');
    const origin = await startDemoOrigin(portBase + 2);
    try {
      start('--quiet', '--origin', origin.url);
      const stack = await facts();
      expect(stack.originUrl).toBe(origin.url);
      const echoed = (await (await fetch(`${stack.edgeUrl}/echo/x`)).json()) as { path: string };
      expect(echoed.path).toBe('/echo/x');
    } finally {
      await origin.close();
    }
  });

  test('refuses a directory that another stack runs on', async () => {
    start('--quiet');
    await facts();
    portBase += 9;
    const second = start();
    expect(await new Promise((resolve) => second.once('exit', resolve))).toBe(1);
    expect(second.output.trim().split('\n')).toHaveLength(1);
  });
});

describe('npm run gatehouse', () => {
  test('makes an account, a site, an instance and a key that the running service honours', async () => {
    start('--quiet');
    const stack = await facts();
    const account = JSON.parse(
      gatehouse('account', 'create', '--email', 'ops@example.com', '--tier', 'professional').stdout,
    ) as { id: string };
    const site = JSON.parse(
      gatehouse('site', 'create', '--account', account.id, '--name', 'shop', '--domains', 'shop.example').stdout,
    ) as { siteKey: string };
    const instance = gatehouse(
      'instance',
      'create',
      '--account',
      account.id,
      '--site-key',
      site.siteKey,
      '--cname',
      'shop.example',
    );
    expect(instance.status).toBe(0);
    const key = JSON.parse(gatehouse('key', 'create', '--account', account.id, '--name', 'ops').stdout) as {
      token: string;
    };
    const sites = await fetch(`${stack.serviceUrl}/sites/get`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await sites.json()).toMatchObject([{ name: 'shop', siteKey: site.siteKey }]);

    expect(gatehouse('account', 'disable', account.id).status).toBe(0);
    const refused = await fetch(`${stack.serviceUrl}/sites/get`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(403);
  });

  test('works on the files when no stack runs', () => {
    const created = gatehouse('account', 'create', '--email', 'solo@example.com');
    expect(created.status).toBe(0);
    expect(JSON.parse(gatehouse('account', 'list').stdout)).toMatchObject([
      { ownerEmail: 'solo@example.com', tier: 'free' },
    ]);
  });

  test('says what is wrong in a line, with exit code 1 and no stack trace', () => {
    const mistakes: [string[], string][] = [
      [['account', 'create', '--email', 'a@example.com', '--tier', 'gold'], 'Tier is one of free'],
      [['account', 'disable', 'acc_nobody'], 'There is no account acc_nobody.'],
      [['nonsense'], 'Usage:'],
    ];
    for (const [args, expected] of mistakes) {
      const { status, stderr } = gatehouse(...args);
      expect([args, status]).toEqual([args, 1]);
      expect(stderr).toContain(expected);
      expect(stderr).not.toContain('    at ');
    }
  });
});

function gatehouse(...args: string[]) {
  return spawnSync('node', ['src/cli/gatehouse.ts', ...args, '--state', dir], { encoding: 'utf8' });
}

function readCommand(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}
