/** Limits of one isolate: what is above them, what adds to them, modes, exact ones, outages and the share of an isolate. */
import { describe, expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import type { LimitCounter, LimitSums } from '../../../src/contract/edge/limits.ts';
import type { LimitForm } from '../../../src/contract/management/policy-set/policy-set-form.ts';
import { compileLimits } from '../../../src/edge/config/compiled-limits.ts';
import { ExactTakes } from '../../../src/edge/limits/exact-takes.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Limits, firedOf, strictest, type Above, type Counted } from '../../../src/edge/limits/limits.ts';
import { limitKeys, type KeySource } from '../../../src/limits/limit-keys.ts';
import { ok } from '../../../src/result.ts';
import { expectRows } from '../../support/rows.ts';
import { reportAnswered } from '../../support/service-client.ts';

const NOW_MS = 1_800_000_000_000;
const limitOf = (changes: Partial<LimitForm> = {}): LimitForm => ({
  name: 'login',
  key: ['ip'],
  count: 3,
  windowSeconds: 60,
  algorithm: 'sliding',
  on: 'request',
  then: '429',
  exact: false,
  mode: 'enforce',
  ...changes,
});
const visitor: KeySource = {
  ip: '192.0.2.7',
  asn: null,
  country: null,
  ja4: null,
  session: null,
  bot: null,
  path: '/login',
  host: 'shop.example',
  header: () => null,
  cookie: () => null,
  users: ['alice'],
};

/** `granted`: uses that the object still grants; `null`: it does not answer. */
function isolateWith(limits: readonly LimitForm[], granted: number | null = 0, report: Report | null = null) {
  const counted: string[] = [];
  const clock = { nowMs: NOW_MS };
  const works: Promise<unknown>[] = [];
  const ports = { now: () => clock.nowMs, sleep: async () => {}, count: (name: string) => void counted.push(name) };
  let left = granted;
  const takes = new ExactTakes({
    ...ports,
    sleep: (ms) => (ms > 1 ? new Promise(() => {}) : Promise.resolve()),
    ask: async (wanted) =>
      ok(
        wanted.map(({ asked: uses }) => {
          if (left === null) return null;
          const given = Math.min(uses, left);
          left -= given;
          return [given, left, left > 0 ? 0 : 10_000] as const;
        }),
      ),
  });
  const counts = new LimitCounts({
    ...ports,
    report: report && (async (counters) => reportAnswered(await report(counters))),
  });
  const isolate = new Limits(counts, takes, ports.count, ports.now);
  const compiled = compileLimits(limits, new HmacSha256(new Uint8Array(32).fill(3)));
  const refuses = (above: readonly Above[]) => strictest(above)?.verdict === 'block';
  const ask = async (from: Partial<KeySource> = {}, names = limits.map(({ name }) => name)) => {
    const asked = names
      .map((name) => compiled.byName.get(name)!)
      .map((limit): Counted => ({ limit, keys: limitKeys(limit, { ...visitor, ...from }, compiled.sign) }));
    const above = await isolate.ask(asked, refuses, (work) => works.push(work));
    return { above: strictest(above), fired: firedOf(above), counted: asked };
  };
  /** How many of so many requests pass. */
  const passed = async (requests: number, from: (index: number) => Partial<KeySource> = () => ({})) => {
    let passing = 0;
    for (let index = 0; index < requests; index++) if ((await ask(from(index))).above === null) passing++;
    return passing;
  };
  const settled = async () => {
    isolate.report(clock.nowMs, (work) => works.push(work));
    await Promise.all(works.splice(0));
  };
  return { isolate, compiled, ask, passed, clock, counted, settled };
}
type Report = (counters: readonly LimitCounter[]) => Promise<LimitSums | null>;

describe('a request', () => {
  test.each(['sliding', 'bucket'] as const)(
    'above a %s limit is told when the next one passes, and adds nothing',
    async (algorithm) => {
      const { ask, passed, clock } = isolateWith([limitOf({ algorithm })]);
      expect(await passed(20)).toBe(3);
      const { above, fired } = await ask();
      expect(fired).toEqual([{ id: 'limit:login', verdict: 'block', mode: 'enforce' }]);
      clock.nowMs += above?.kind === 'counted' ? above.waitMs : 0;
      expect(await passed(20)).toBe(1);
    },
  );

  test('of another visitor has a count of its own, and one whose policies name no limit is never above', async () => {
    const { ask, passed } = isolateWith([limitOf()]);
    expect(await passed(20, (index) => ({ ip: `192.0.2.${index}` }))).toBe(20);
    expect(await passed(20)).toBe(3 - 1);
    expect((await ask({}, [])).above).toBeNull();
  });

  test('from a /48 has no more than ten times the count, whatever /64 it comes from', async () => {
    const { passed } = isolateWith([limitOf()]);
    expect(await passed(300, (index) => ({ ip: `2001:db8:1:${(index * 256).toString(16).slice(0, 4)}::1` }))).toBe(30);
    const household = isolateWith([limitOf()]);
    expect(await household.passed(300, (index) => ({ ip: `2001:db8:1:${(index % 256).toString(16)}::1` }))).toBe(9);
  });

  test.each([['header:x-api-key'], ['ip', 'header:x-api-key']])(
    'that is keyed by what its visitor writes (%s %s) has a hundred times the count of its network',
    async (...key) => {
      const { passed } = isolateWith([limitOf({ key, count: 2 })]);
      expect(await passed(300, (index) => ({ header: () => `key-${index}` }))).toBe(200);
    },
  );

  test('of an office of 90 people who each use half of their count is not above a limit by address and cookie', async () => {
    const { passed } = isolateWith([limitOf({ key: ['ip', 'cookie:sid'], count: 4 })]);
    expect(await passed(180, (index) => ({ cookie: () => `visitor-${index % 90}` }))).toBe(180);
  });

  test('has a count of ten million at most, whatever the multiple', () => {
    const { compiled } = isolateWith([limitOf({ count: 1_000_000 })]);
    expect(compiled.byName.get('login')!.meter(1000).count).toBe(10_000_000);
  });

  test('above a monitored limit is recorded and passes', async () => {
    const { ask, passed } = isolateWith([limitOf({ mode: 'monitor' })]);
    expect(await passed(10)).toBe(10);
    expect((await ask()).fired).toEqual([{ id: 'limit:login', verdict: 'block', mode: 'monitor' }]);
  });

  test('that one limit refuses adds nothing to another', async () => {
    const { ask, passed } = isolateWith([limitOf({ count: 1 }), limitOf({ name: 'api', count: 5, key: ['prefix'] })]);
    expect(await passed(10)).toBe(1);
    const api = async () => (await ask({ ip: '192.0.2.99' }, ['api'])).above;
    for (let use = 0; use < 4; use++) expect(await api()).toBeNull();
    expect(await api()).not.toBeNull();
  });

  test('above two limits is decided by the strictest, and by the first of equals', async () => {
    const { ask } = isolateWith([
      limitOf({ count: 1, then: 'challenge', name: 'soft' }),
      limitOf({ count: 1, then: '429', name: 'hard' }),
      limitOf({ count: 1, then: 'block', name: 'harder' }),
    ]);
    await ask();
    const { above, fired } = await ask();
    expect(above?.limit.name).toBe('hard');
    expect(fired.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['limit:soft', 'challenge'],
      ['limit:hard', 'block'],
      ['limit:harder', 'block'],
    ]);
  });
});

describe('an exact limit', () => {
  const exact = limitOf({ exact: true });

  test('lets through what the object grants', async () => {
    const { passed } = isolateWith([exact], 5);
    expect(await passed(20)).toBe(5);
  });

  test('is not asked for a request that another limit refuses', async () => {
    const { ask, passed } = isolateWith([limitOf({ count: 1, name: 'fast' }), exact], 2);
    expect(await passed(5)).toBe(1);
    expect((await ask({}, ['login'])).above).toBeNull();
    expect((await ask({}, ['login'])).above).not.toBeNull();
  });

  test.each([
    ['open', 20],
    ['closed', 0],
    [undefined, 20],
  ] as const)('without its object lets requests pass as ifUnreachable says (%s)', async (ifUnreachable, passing) => {
    const { passed, counted } = isolateWith([limitOf({ exact: true, count: 100, ifUnreachable })], null);
    expect(await passed(20)).toBe(passing);
    expect(counted).toContain('limits_unreachable');
  });
});

describe('what an event adds', () => {
  test('is decided by the status or the header of the response', () =>
    expectRows<[string, Partial<LimitForm>, Response, boolean]>(
      [
        ['status:4xx', {}, new Response('', { status: 404 }), true],
        ['status:4xx', {}, new Response('', { status: 500 }), false],
        ['status:401', {}, new Response('', { status: 401 }), true],
        ['status:401', {}, new Response('', { status: 403 }), false],
        ['loginFailed', { loginFailed: { status: [401, 422] } }, new Response('', { status: 422 }), true],
        ['loginFailed', { loginFailed: { status: [401] } }, new Response('', { status: 200 }), false],
        [
          'loginFailed',
          { loginFailed: { header: { name: 'x-login', value: 'no' } } },
          new Response('', { headers: { 'x-login': 'no' } }),
          true,
        ],
        [
          'loginFailed',
          { loginFailed: { header: { name: 'x-login', value: 'no' } } },
          new Response('', { headers: { 'x-login': 'ok' } }),
          false,
        ],
        [
          'loginFailed',
          { loginFailed: { header: { name: 'x-failed' } } },
          new Response('', { headers: { 'x-failed': '' } }),
          true,
        ],
        ['loginFailed', { loginFailed: { header: { name: 'x-failed' } } }, new Response(''), false],
      ],
      async ([on, changes, response, counts]) => {
        const { isolate, ask } = isolateWith([limitOf({ on, count: 1, ...changes })]);
        const { counted, above } = await ask();
        expect([above, counted.length]).toEqual([null, 1]);
        isolate.responded(counted, response);
        expect((await ask()).above === null).toBe(!counts);
      },
    ));

  test('requests do not add to a limit that counts responses', async () => {
    const { passed } = isolateWith([limitOf({ on: 'status:401', count: 1 })]);
    expect(await passed(10)).toBe(10);
  });

  test('failed challenges add wherever they were answered', async () => {
    const { isolate, compiled, ask } = isolateWith([limitOf({ on: 'challengeFailed', count: 2 })]);
    isolate.challengeFailed(compiled, { ...visitor, path: '/__protect/solution' });
    expect((await ask()).above).toBeNull();
    isolate.challengeFailed(compiled, { ...visitor, path: '/__protect/verify' });
    expect((await ask()).above).not.toBeNull();
  });

  test('failed log-ins of one user add up over networks', async () => {
    const byUser = limitOf({
      on: 'loginFailed',
      key: ['user'],
      count: 2,
      loginFailed: { status: [401], usernameField: 'u' },
    });
    const { isolate, ask } = isolateWith([byUser]);
    for (const ip of ['192.0.2.1', '198.51.100.1']) {
      isolate.responded((await ask({ ip })).counted, new Response('', { status: 401 }));
    }
    expect((await ask({ ip: '203.0.113.1' })).above).not.toBeNull();
    expect((await ask({ ip: '203.0.113.1', users: ['bob'] })).above).toBeNull();
  });
});

describe('isolates that share a fast limit', () => {
  /** A ledger for any number of isolates. */
  function ledger(): Report {
    const sums = new Map<string, number>();
    return async (counters) =>
      counters.map(({ key, window, count }) => {
        const now = (sums.get(`${window} ${key}`) ?? 0) + count;
        sums.set(`${window} ${key}`, now);
        return [sums.get(`${window - 1} ${key}`) ?? 0, now] as const;
      });
  }

  test.each([
    [2, 50],
    [5, 50],
    [3, 4],
  ])('%d of them exceed a limit of %d by half of it each at most, or by ten', async (isolates, count) => {
    const shared = ledger();
    const all = Array.from({ length: isolates }, () => isolateWith([limitOf({ count })], 0, shared));
    let total = 0;
    for (let round = 0; round < 8; round++) {
      for (const { passed } of all) total += await passed(count);
      await Promise.all(all.map(({ settled }) => settled()));
    }
    expect(total).toBeGreaterThanOrEqual(count);
    expect(total).toBeLessThanOrEqual(count + isolates * Math.max(count / 2, Math.min(count, 10)));
  });

  test('one of them alone has the whole limit of a small count at once', async () => {
    const { passed } = isolateWith([limitOf({ count: 5 })], 0, ledger());
    expect(await passed(20)).toBe(5);
  });
});
