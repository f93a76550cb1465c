/** Deployments with something wrong around them: one site that cannot be proven, a zone that is gone, a smaller plan. */
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newZone } from '../../support/platform/account-state.ts';
import { rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';

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
