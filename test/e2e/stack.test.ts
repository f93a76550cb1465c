// A stack of its own: each stack here is started by the command under test.
/** The contract of the local stack, tested with the real command in a process of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { OWNER_FILE } from '../../src/cli/state-files.ts';
import type { StackFacts } from '../../src/cli/state.ts';
import { newInstanceSettings } from '../../src/contract/management/instance-settings.ts';
import { browse } from '../support/browse.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually } from '../support/stack.ts';

/** Right before a stop. */
const LAST_REQUESTS = 20;

let dir: string;
let portBase: number;
let running: (ChildProcess & { output: string })[];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-start-'));
  portBase = await freePortBase();
  running = [];
});
afterAll(async () => {
  await Promise.all(running.map((child) => end(child)));
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

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return exited;
}

async function facts(): Promise<StackFacts> {
  const file = join(dir, 'stack.json');
  const starting = running.at(-1)!;
  const found = await eventually(
    async () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StackFacts) : null),
    (read) => read !== null || starting.exitCode !== null,
  );
  if (found === null) throw new Error(`The stack ended with ${starting.exitCode}: ${starting.output}`);
  return found;
}

function post(url: string, apiKey: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** The command in a process of its own, as an operator runs it. */
function inItsOwnProcess(...args: string[]) {
  return spawnSync('node', ['src/cli/gatehouse.ts', ...args, '--state', dir], { encoding: 'utf8' });
}

const run = (...args: string[]) => gatehouse(args, { state: dir });

async function made<Made>(...args: string[]): Promise<Made> {
  const { exitCode, output, errors } = await run(...args);
  expect([exitCode, errors]).toEqual([0, '']);
  return JSON.parse(output) as Made;
}

/** One life of a state directory. The tests run in order: each finds the stack as the one before left it. */
describe('npm start', () => {
  let child: ReturnType<typeof start>;
  let stack: StackFacts;

  test.each([0, 1, 2])('with a busy port (base + %i) prints one line and exits with 1', async (offset) => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(portBase + offset, '127.0.0.1', resolve));
    const refused = start();
    const code = await new Promise((resolve) => refused.once('close', resolve));
    squatter.close();
    expect(code).toBe(1);
    expect(refused.output.trim().split('\n')).toHaveLength(1);
    expect(refused.output).toContain(String(portBase + offset));
    expect(readdirSync(dir)).toEqual([]);
  });

  test('starts all three and writes stack.json', async () => {
    child = start();
    stack = await facts();
    expect(Object.keys(stack).toSorted().join(' ')).toBe(
      'accountId apiKey clientJwt consoleUrl edgeUrl instanceId opsToken originUrl ownerEmail pid secretKey serviceUrl ' +
        'signInUrl signalsSecret siteKey',
    );
    expect(stack.edgeUrl).toBe(`http://127.0.0.1:${portBase}`);
    expect(stack.serviceUrl).toBe(`http://127.0.0.1:${portBase + 1}`);
    expect(stack.originUrl).toBe(`http://127.0.0.1:${portBase + 2}`);
    const urls = [`${stack.edgeUrl}/`, `${stack.serviceUrl}/health`, `${stack.originUrl}/`];
    expect(await Promise.all(urls.map(async (url) => (await browse(url)).status))).toEqual([200, 200, 200]);
    expect(statSync(join(dir, 'stack.json')).mode & 0o077).toBe(0);
    await eventually(
      async () => child.output,
      (output) => output.includes('Ctrl-C'),
    );
    expect(child.output.match(/^ {2}curl /gm)).toHaveLength(3);
    expect(child.output).toContain('An instance that you create starts in monitor mode');
  });

  test('refuses a directory that another stack uses', async () => {
    const args = ['src/cli/start.ts', '--port-base', String(portBase + 9), '--state', dir];
    const { status, stderr } = spawnSync('node', args, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(join(dir, 'stack.json'))).toBe(true);
  });

  test('takes commands that make an account, a site, an instance and a key while it runs', async () => {
    const account = JSON.parse(
      inItsOwnProcess('account', 'create', '--email', 'ops@example.com', '--tier', 'professional').stdout,
    ) as { id: string };
    const owned = ['--account', account.id];
    const shopWords = [...owned, '--name', 'shop', '--domains', 'shop.example'];
    const site = await made<{ siteKey: string }>('site', 'create', ...shopWords);
    const forSite = [...owned, '--site-key', site.siteKey];
    const instance = await made('instance', 'create', ...forSite, '--cname', 'a.example');
    expect(instance).toMatchObject(newInstanceSettings.parse({}));
    const key = await made<{ token: string }>('key', 'create', ...owned, '--name', 'ops');
    const sites = await post(`${stack.serviceUrl}/sites/get`, key.token, {});
    const shop = { name: 'shop', siteKey: site.siteKey };
    expect(await sites.json()).toMatchObject([{ ...shop, secretKey: expect.any(String) }]);
    const forReports = [...owned, '--name', 'reports', '--permissions', 'read-only'];
    const { token: reader } = await made<{ token: string }>('key', 'create', ...forReports);
    const shown = (await (await post(`${stack.serviceUrl}/sites/get`, reader, {})).json()) as object[];
    expect(shown).toMatchObject([shop]);
    expect(shown[0]).not.toHaveProperty('secretKey');
    expect((await run('account', 'disable', account.id)).exitCode).toBe(0);
    expect((await post(`${stack.serviceUrl}/sites/get`, key.token, {})).status).toBe(403);
  });

  test('takes a command that rotates a site’s secret: both are valid for a while, or the new one alone', async () => {
    const { accountId, siteKey, secretKey, serviceUrl } = stack;
    const rotate = async (...more: string[]): Promise<string> => {
      const words = ['site', 'rotate-secret', '--account', accountId, '--site-key', siteKey, ...more];
      return (await made<{ secretKey: string }>(...words)).secretKey;
    };
    const statusOf = async (secret: string): Promise<number> =>
      (await post(`${serviceUrl}/siteverify`, '', { secret, token: 'none' })).status;
    const second = await rotate();
    expect([await statusOf(second), await statusOf(secretKey)]).toEqual([200, 200]);
    const third = await rotate('--overlap-hours', '0');
    // The running service keeps a secret in memory for two seconds.
    await eventually(
      () => Promise.all([third, second, secretKey].map(statusOf)),
      (statuses) => statuses.join() === '200,401,401',
    );
    expect(await made('keys', 'reseal')).toEqual({ outcome: 'unchanged' });
  });

  test('takes a command that activates a site again', async () => {
    const { accountId, apiKey, serviceUrl } = stack;
    const owned = ['--account', accountId];
    const words = [...owned, '--name', 'seasonal', '--domains', 'seasonal.example'];
    const { siteKey, secretKey } = await made<{ siteKey: string; secretKey: string }>('site', 'create', ...words);
    expect((await post(`${serviceUrl}/sites/delete`, apiKey, { siteKey })).status).toBe(200);
    expect((await run('site', 'rotate-secret', ...owned, '--site-key', siteKey)).exitCode).toBe(1);
    const activated = await made('site', 'activate', ...owned, '--site-key', siteKey);
    expect(activated).toMatchObject({ siteKey, secretKey, active: true });
    const { errors } = await run('site', 'activate', ...owned, '--site-key', 'none');
    expect(errors).toContain('no site with the key none');
  });

  test('reports a mistake on the command line in one line, with exit code 1 and no stack trace', async () => {
    const mistakes: [string[], string][] = [
      [['account', 'create', '--email', 'a@example.com', '--tier', 'gold'], 'gold is not a tier. Use one of: free'],
      [['account', 'disable', 'acc_nobody'], 'There is no account acc_nobody. List accounts with: account list'],
      [['nonsense'], 'There is no command "nonsense".'],
      [
        ['site', 'create', '--account', stack.accountId, '--name', 'a b', '--domains', 'b.example'],
        'name: may hold letters, digits, hyphens and underscores only',
      ],
      [
        ['site', 'create', '--account', stack.accountId, '--name', 'suffix', '--domains', 'co.uk'],
        'A public suffix is not a domain',
      ],
      [
        ['instance', 'create', '--account', stack.accountId, '--site-key', 'none', '--cname', 'b.example'],
        'no active site with the key none',
      ],
    ];
    for (const [args, expected] of mistakes) {
      const { exitCode, errors } = await run(...args);
      expect([args, exitCode, errors.split('\n').length]).toEqual([args, 1, 1]);
      expect(errors).toContain(expected);
    }
    const { status, stderr } = inItsOwnProcess('nonsense');
    expect([status, stderr.trimEnd().split('\n').length]).toEqual([1, 1]);
  });

  test('ends cleanly on SIGTERM: exit code 0, ports free, nothing left running, stack.json gone', async () => {
    const rules = [{ type: 'userAgent', value: 'kept-rule', verdict: 'block' }];
    expect((await post(`${stack.serviceUrl}/protect/access-rules/create`, stack.apiKey, { rules })).status).toBe(200);
    const children = childrenOf(stack.pid);
    expect(children.length).toBeGreaterThan(0);
    for (let n = 0; n < LAST_REQUESTS; n++) await (await browse(`${stack.edgeUrl}/last/${n}`)).text();
    expect(await end(child)).toBe(0);
    expect(existsSync(join(dir, 'stack.json'))).toBe(false);
    await eventually(
      async () => children.filter((pid) => existsSync(`/proc/${pid}`)),
      (left) => left.length === 0,
    );
    await expect(fetch(stack.edgeUrl)).rejects.toThrow();
  });

  test('leaves files that the command line can use', () => {
    const accounts = JSON.parse(inItsOwnProcess('account', 'list').stdout) as { ownerEmail: string }[];
    expect(accounts.map(({ ownerEmail }) => ownerEmail)).toEqual([stack.ownerEmail, 'ops@example.com']);
  });

  test('refuses a directory that it cannot use in one sentence, and deletes nothing that is not of a stack', () => {
    writeFileSync(join(dir, 'thesis.txt'), 'three years');
    const typo = `${dir}-typo`;
    const kept = readdirSync(dir, { encoding: 'utf8', recursive: true }).toSorted();
    const commands: [string[], RegExp][] = [
      [
        ['start.ts', '--fresh', '--port-base', String(portBase), '--state', dir],
        /thesis\.txt is not a file of a local/,
      ],
      [['gatehouse.ts', 'account', 'list', '--state', typo], /^There is no local stack in /],
      [['start.ts', '--port-base', String(portBase), '--state', join(typo, 'state')], /-typo does not exist/],
    ];
    for (const [[file, ...args], says] of commands) {
      const { status, stderr } = spawnSync('node', [`src/cli/${file}`, ...args], { encoding: 'utf8' });
      expect([status, stderr.trim().split('\n').length, stderr]).toEqual([1, 1, expect.stringMatching(says)]);
    }
    expect(existsSync(typo)).toBe(false);
    expect(readdirSync(dir, { encoding: 'utf8', recursive: true }).toSorted()).toEqual(kept);
    rmSync(join(dir, 'thesis.txt'));
  });

  test('finds its account, keys and rules again on other ports, where the edge gets a credential of the new address', async () => {
    portBase = await freePortBase();
    child = start('--quiet');
    const again = await facts();
    expect(again.serviceUrl).toBe(`http://127.0.0.1:${portBase + 1}`);
    const { pid: _, clientJwt, edgeUrl, serviceUrl, originUrl, consoleUrl, signInUrl, ...same } = again;
    expect(stack).toMatchObject(same);
    expect(clientJwt).not.toBe(stack.clientJwt);
    const health = await fetch(`${edgeUrl}/__protect/health`);
    expect(await health.json()).toEqual({ status: 'ok' });
    const blocked = await fetch(`${edgeUrl}/`, { headers: { 'user-agent': 'kept-rule' } });
    expect(blocked.status).toBe(403);
    const found = await post(`${serviceUrl}/protect/verdicts`, stack.apiKey, { requestPath: '/last/*', limit: 100 });
    expect((await found.json()) as object).toMatchObject({ total: LAST_REQUESTS });
    const listed = await post(`${serviceUrl}/protect/client-jwt/list`, stack.apiKey, {
      protectInstanceId: stack.instanceId,
    });
    const { clientJwts } = (await listed.json()) as { clientJwts: { status: string }[] };
    expect(clientJwts.map(({ status }) => status).toSorted()).toEqual(['active', 'revoked']);
    expect(originUrl).toBe(`http://127.0.0.1:${portBase + 2}`);
    expect(consoleUrl).toBe(`http://localhost:${portBase + 1}/console`);
    expect(signInUrl).toMatch(/#link=[\w-]{43}$/);
    expect(signInUrl).not.toBe(stack.signInUrl);
    expect(child.output).toBe('');
  });

  test('starts where another was killed, ends its processes, and keeps nothing with --fresh', async () => {
    const { pid } = await facts();
    const victim = childrenOf(pid).find((one) => commandOf(one).includes('workerd'))!;
    process.kill(victim, 'SIGKILL');
    // Its place takes another one, which the next stack must know of.
    const owner = async () => JSON.parse(readFileSync(join(dir, OWNER_FILE), 'utf8')) as { runtimes: number[] };
    await eventually(owner, ({ runtimes }) => runtimes.length === 2 && !runtimes.includes(victim));
    const left = childrenOf(pid);
    await end(child, 'SIGKILL');
    rmSync(join(dir, 'stack.json'));
    const origin = await startDemoOrigin(portBase + 2);
    try {
      start('--quiet', '--fresh', '--origin', origin.url);
      const fresh = await facts();
      expect(left.filter((one) => commandOf(one).includes('workerd'))).toEqual([]);
      expect(fresh.accountId).not.toBe(stack.accountId);
      expect(fresh.siteKey).not.toBe(stack.siteKey);
      expect(fresh.originUrl).toBe(origin.url);
      const echoed = (await (await browse(`${fresh.edgeUrl}/echo/x`)).json()) as { path: string };
      expect(echoed.path).toBe('/echo/x');
    } finally {
      await origin.close();
    }
  });
});

function commandOf(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}
