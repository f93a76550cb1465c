/** A deployment that is there: its status, its upgrade and its end, each also after an interruption. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inventory, keptKey, oneSite, rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';

const DEPLOY = ['--site', 'www.example.com'];
let operator: Operator;

beforeEach(async () => {
  operator = new Operator();
  await operator.start();
  expect((await operator.run(DEPLOY)).error).toBe('');
});
afterEach(() => operator.stop());

const uploadsOf = (name: string): number => operator.platform.account.scripts.get(name)?.uploads ?? 0;

describe('status', () => {
  test('names every part and the mode of each site, and writes nothing', async () => {
    const writes = operator.platform.writes().length;
    const { code, output } = await operator.run(['status']);
    expect(code).toBe(0);
    expect(output.split('\n').filter((line) => !/^(?:ok {6}| {8})/.test(line))).toEqual([]);
    expect(output).toMatch(/^ok {6}site www\.example\.com, .*: in monitor mode, credential ends in 36\d days$/m);
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test('says what is missing, with exit code 1, and the next run makes it', async () => {
    operator.platform.account.namespaces = [];
    operator.platform.state.zones[0]!.routes = [];
    const { code, output } = await operator.run(['status']);
    expect(code).toBe(1);
    expect(output).toMatch(/^missing KV namespace gatehouse-gate$/m);
    expect(output).toMatch(/^missing site www\.example\.com, .*: no route/m);
    expect((await operator.run(DEPLOY)).error).toBe('');
    expect(await inventory(operator)).toEqual(oneSite);
  });

  test('of an account without a deployment is not whole', async () => {
    const { code, output } = await operator.run(['status', '--name', 'other']);
    expect(code).toBe(1);
    expect(output).toMatch(/^missing Worker other-service$/m);
  });
});

describe('upgrade', () => {
  test('keeps the routes that the operator has added to a gate', async () => {
    const { routes } = operator.platform.state.zones[0]!;
    const script = 'gatehouse-edge-www-example-com';
    routes.push(
      { id: 'r1', pattern: 'm.example.com/*', script },
      { id: 'r2', pattern: 'api.example.com/*', script: 'api' },
    );
    await rows(operator, `UPDATE deployment_edges SET edge_print = 'older'`);
    for (const outcome of ['deployed', 'found'])
      expect((await operator.run(['upgrade'])).output).toContain(`Edge Worker ${script}: ${outcome}`);
    const now = operator.platform.state.zones[0]!.routes.map((route) => `${route.pattern} ${route.script}`);
    expect(now.toSorted()).toEqual([
      'api.example.com/* api',
      `m.example.com/* ${script}`,
      `www.example.com/* ${script}`,
    ]);
  });

  test('deploys the service and then every gate, and leaves a current one alone', async () => {
    await operator.run(['--site', 'shop.example.com']);
    await rows(operator, `UPDATE deployment SET service_print = 'older', version = '0.0.1'`);
    await rows(operator, `UPDATE deployment_edges SET edge_print = 'older' WHERE host = 'www.example.com'`);
    const { code, error, output } = await operator.run(['upgrade']);
    expect([code, error]).toEqual([0, '']);
    expect(output).toMatch(
      /Service Worker gatehouse-service: deployed\n[^]*Edge Worker gatehouse-edge-www-example-com: deployed/,
    );
    expect(output).toContain('Edge Worker gatehouse-edge-shop-example-com: found');
    const names = ['gatehouse-service', 'gatehouse-edge-www-example-com', 'gatehouse-edge-shop-example-com'];
    expect(names.map(uploadsOf)).toEqual([2, 2, 1]);
  });

  test('renews a credential that soon ends, and revokes the former one after the edge has the new one', async () => {
    await rows(operator, `UPDATE client_jwts SET expires_at = unixepoch() * 1000 + 86400000`);
    expect((await operator.run(['upgrade'])).error).toBe('');
    expect(await inventory(operator)).toEqual(oneSite);
    expect(await rows(operator, 'SELECT COUNT(*) AS n FROM client_jwts')).toEqual([{ n: 2 }]);
  });

  test('that fails at any write is repaired by the next one', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at += 1) {
        await rows(operator, `UPDATE client_jwts SET expires_at = unixepoch() * 1000 + 86400000`);
        await rows(operator, `UPDATE deployment SET service_print = 'older'`);
        operator.platform.failAtWrite(at, when);
        await operator.run(['upgrade']);
        if (!operator.platform.endFault()) break;
        expect({ at, when, error: (await operator.run(['upgrade'])).error }).toEqual({ at, when, error: '' });
        expect({ at, when, ...(await inventory(operator)) }).toEqual({ at, when, ...oneSite });
      }
    }
  });

  test('of nothing says how to deploy', async () => {
    const { code, error } = await operator.run(['upgrade', '--name', 'other']);
    expect(code).toBe(1);
    expect(error).toMatch(
      /^The account acc1 has no complete deployment other\. Deploy it with "npm run deploy -- --site HOST"/,
    );
  });
});

describe('destroy', () => {
  const nothing = () => {
    const { account, state } = operator.platform;
    const { databases, buckets, queues, namespaces, scripts, domains } = account;
    return [
      databases,
      [...buckets],
      queues,
      namespaces,
      [...scripts],
      domains,
      state.zones.flatMap(({ routes }) => routes),
    ];
  };

  test('names what is lost, asks twice, and deletes everything but the key', async () => {
    operator.platform.account.buckets.get('gatehouse-segments')!.add('verdicts/date=2026-11-20/a b.parquet');
    operator.answers = ['gatehouse', 'gatehouse'];
    const { code, output } = await operator.run(['destroy']);
    expect(code).toBe(0);
    for (const lost of ['the gate of www.example.com', 'D1 database gatehouse with accounts', 'the verdict log'])
      expect(output.slice(0, output.indexOf('Deleted'))).toContain(lost);
    expect(operator.answers).toEqual([]);
    expect(nothing()).toEqual([[], [], [], [], [], [], []]);
    expect(keptKey(operator)).not.toBeNull();
  });

  test.each([
    ['one answer', ['gatehouse', 'no'], []],
    ['nobody to ask', null, []],
    ['another name', null, ['--yes', 'gatehouse2']],
  ])('with %s deletes nothing', async (_, answers, words) => {
    operator.answers = answers;
    const writes = operator.platform.writes().length;
    const { code, error } = await operator.run(['destroy', ...words]);
    expect(code).toBe(1);
    expect(error).toMatch(/Nothing was deleted\.$/);
    expect(operator.platform.writes()).toHaveLength(writes);
  });

  test('that fails at any write is completed by the next one', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; ; at += 1) {
        operator.platform.failAtWrite(at, when);
        await operator.run(['destroy', '--yes', 'gatehouse']);
        const wasMet = operator.platform.endFault();
        expect({ at, when, error: (await operator.run(['destroy', '--yes', 'gatehouse'])).error }).toEqual({
          at,
          when,
          error: '',
        });
        expect({ at, when, left: nothing() }).toEqual({ at, when, left: [[], [], [], [], [], [], []] });
        expect((await operator.run(DEPLOY)).error).toBe('');
        if (!wasMet) break;
      }
    }
  });

  test('of one site leaves the service and the other sites', async () => {
    await operator.run(['--site', 'shop.example.com']);
    expect((await operator.run(['destroy', '--site', 'shop.example.com', '--yes', 'shop.example.com'])).error).toBe('');
    expect(await inventory(operator)).toMatchObject({
      workers: oneSite.workers,
      routes: oneSite.routes,
      edges: oneSite.edges,
      credentials: 1,
      freeLeases: ['1'],
    });
  });
});

test('enforce and monitor refuse a site that is not there, and a wrong part', async () => {
  expect((await operator.run(['enforce', '--site', 'shop.example.com'])).error).toMatch(
    /^shop\.example\.com is not a site of this deployment\. Deploy it with /,
  );
  expect((await operator.run(['enforce', '--site', 'www.example.com', '--rollout', '0'])).error).toBe(
    '--rollout is a whole number of percent from 1 to 100.',
  );
});
