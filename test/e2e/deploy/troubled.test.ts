/** Deployments with something wrong around them: one site that cannot be proven, a zone that is gone, a smaller plan. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runRemote } from '../../../src/cli/remote.ts';
import { newZone } from '../../support/platform/account-state.ts';
import { rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';
import { TOKEN } from '../../support/platform/platform.ts';

const DEPLOY = ['--site', 'www.example.com'];
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

async function deployed(...words: string[]): Promise<string> {
  const { code, output, error } = await operator.run(words);
  expect([code, error]).toEqual([0, '']);
  return output;
}

const uploadsOf = (name: string): number => operator.platform.account.scripts.get(name)?.uploads ?? 0;

describe('a site that cannot be proven', () => {
  test('does not keep an upgrade from the sites behind it, and is named at the end', async () => {
    await deployed(...DEPLOY);
    await deployed('--site', 'shop.example.com');
    await rows(operator, `UPDATE deployment_edges SET edge_print = 'older'`);
    const { hosts } = operator;
    operator.hosts = (url, init) => (url.host === 'shop.example.com' ? Promise.resolve(null) : hosts(url, init));
    const { code, output, error } = await operator.run(['upgrade']);
    expect(code).toBe(1);
    expect(error).toMatch(/^A request for https:\/\/shop\.example\.com\/ does not pass the gate\./);
    expect(output).toContain('A request for https://www.example.com/: is in the log as');
    expect(['shop', 'www'].map((host) => uploadsOf(`gatehouse-edge-${host}-example-com`))).toEqual([2, 2]);
  });

  test('because its log only counts allowed requests, is proven by its gate alone', async () => {
    await deployed(...DEPLOY);
    await rows(operator, `UPDATE protect_instances SET policy = json_set(policy, '$.allowVerdicts', 'counts')`);
    const { hosts } = operator;
    operator.hosts = (url, init) =>
      url.pathname === '/protect/verdicts' ? Promise.resolve(Response.json({ total: 0 })) : hosts(url, init);
    expect(await deployed('upgrade')).toContain('A request for https://www.example.com/: passed the gate');
    expect(await deployed(...DEPLOY)).toContain('A request for https://www.example.com/: passed the gate');
  });
});

describe('a zone that is gone', () => {
  beforeEach(async () => {
    operator.platform.state.zones.push(newZone('zone2', 'example.net', 'acc1', ['www']));
    await deployed(...DEPLOY);
    await deployed('--site', 'www.example.net');
    operator.platform.state.zones.pop();
  });

  test('is a missing part in the status', async () => {
    const { code, output } = await operator.run(['status']);
    expect(code).toBe(1);
    expect(output).toMatch(/^missing site www\.example\.net, .*: its zone is gone/m);
    expect(output).toMatch(/^ok {6}site www\.example\.com/m);
  });

  test('is passed over by an upgrade, which says so', async () => {
    await rows(operator, `UPDATE deployment_edges SET edge_print = 'older'`);
    const output = await deployed('upgrade');
    expect(output).toMatch(
      /Site www\.example\.net: its zone is gone.*npm run deploy -- destroy --site www\.example\.net/,
    );
    expect(output).toContain('Edge Worker gatehouse-edge-www-example-com: deployed');
  });

  test('does not keep its site, or the whole deployment, from being destroyed', async () => {
    await deployed('destroy', '--site', 'www.example.net', '--yes', 'www.example.net');
    expect(await rows(operator, 'SELECT host FROM deployment_edges')).toEqual([{ host: 'www.example.com' }]);
    expect(operator.platform.account.scripts.has('gatehouse-edge-www-example-net')).toBe(false);
    await deployed('destroy', '--yes', 'gatehouse');
    expect([...operator.platform.account.scripts.keys()]).toEqual([]);
  });

  test('is not concluded from routes alone that the login may not read', async () => {
    operator.platform.forbidden = /^GET \/zones\/zone1\/workers\/routes/;
    const { code, error } = await operator.run(['destroy', '--site', 'www.example.com', '--yes', 'www.example.com']);
    expect(code).toBe(1);
    expect(error).toMatch(/^The login may not read /);
    expect(operator.platform.account.scripts.has('gatehouse-edge-www-example-com')).toBe(true);
  });
});

describe.each(['refuse', 'shorten'] as const)('queues of a plan that keeps messages for a day (%s)', (how) => {
  beforeEach(() => (operator.platform.state.longRetention = how));

  test('are made, found again, named in the status and destroyed', async () => {
    expect(await deployed(...DEPLOY)).toMatch(/Queue gatehouse-verdicts: created, .*less than two weeks/);
    expect(await deployed(...DEPLOY)).toMatch(/Queue gatehouse-verdicts: found, .*less than two weeks/);
    expect(await deployed('status')).toMatch(/^ok {6}Queue gatehouse-verdicts$/m);
    await deployed('destroy', '--yes', 'gatehouse');
    expect(operator.platform.account.queues).toEqual([]);
  });
});

test('a folder of the checkout that cannot be written is one sentence', async () => {
  writeFileSync(operator.folder, 'a file in the place of the folder');
  const { code, error } = await operator.run(DEPLOY);
  expect(code).toBe(1);
  expect(error).toMatch(/cannot be written\. Correct the permissions of the checkout, and run the command again\.$/);
});

test('a log without a terminal gets no link that signs in', async () => {
  operator.isTerminal = false;
  const output = await deployed(...DEPLOY);
  expect(output).not.toContain('#link=');
  expect(output).toContain('signin --remote --email owner@example.com');
});

test('every printed command names a deployment with another name', async () => {
  const output = await deployed(...DEPLOY, '--name', 'other');
  expect(output).toContain('To enforce: npm run deploy -- enforce --site www.example.com --name other');
  operator.platform.account.namespaces = [];
  const { output: shown } = await operator.run(['status', '--name', 'other']);
  expect(shown).toContain('"npm run deploy -- --site HOST --name other"');
  const { error } = await operator.run(['enforce', '--site', 'shop.example.com', '--name', 'other']);
  expect(error).toContain('"npm run deploy -- --site shop.example.com --name other"');
});

test('--version is that of the checkout, and --help of one command is about it alone', async () => {
  expect(await deployed('--version')).toMatch(/^\d+\.\d+\.\d+/);
  expect(await deployed('enforce', '--version')).toMatch(/^\d+\.\d+\.\d+/);
  const help = await deployed('enforce', '--help');
  expect(help).toContain('npm run deploy -- enforce --site HOST');
  expect(help).not.toContain('npm run deploy -- destroy');
});

test('npm run deploy -- --help prints the help and nothing else', () => {
  const output = execFileSync('npm', ['run', '--silent', 'deploy', '--', '--help'], { encoding: 'utf8' });
  expect(output).toMatch(/^Usage:\n\n {2}npm run deploy -- --site HOST/);
  expect(output).not.toMatch(/gzipped|documentation/);
});

test('--remote reaches the deployment that GATEHOUSE_DEPLOYMENT names', async () => {
  await deployed(...DEPLOY, '--name', 'other');
  const key = readFileSync(join(operator.home, '.config/gatehouse/other-acc1.master-key'), 'utf8').trim();
  const env = {
    CLOUDFLARE_API_BASE_URL: operator.platform.url,
    CLOUDFLARE_API_TOKEN: TOKEN,
    CLOUDFLARE_ACCOUNT_ID: 'acc1',
    MASTER_KEY: key,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    await expect(runRemote(['account', 'list'])).rejects.toThrow(/has no D1 database gatehouse\./);
    vi.stubEnv('GATEHOUSE_DEPLOYMENT', 'other');
    expect((await runRemote(['account', 'list'])).output).toContain('owner@example.com');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('enforcing a site leaves the key of a deployment that runs', async () => {
  await deployed(...DEPLOY);
  const { hosts } = operator;
  let before: unknown;
  let after: unknown;
  operator.hosts = async (url, init) => {
    if (url.pathname !== '/protect/verdicts' || before !== undefined) return hosts(url, init);
    const ids = `SELECT id FROM api_keys WHERE name = 'npm run deploy'`;
    before = await rows(operator, ids);
    await operator.run(['enforce', '--site', 'www.example.com']);
    after = await rows(operator, ids);
    return hosts(url, init);
  };
  await deployed(...DEPLOY);
  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
});
