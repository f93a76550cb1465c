/** The ledger of limits: exact sums over isolates, windows, bounds, expiry, and the report of an edge. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env as testEnv } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { LIMIT_COUNTERS_MAX, type LimitCounter, type LimitSums } from '../../src/contract/edge/limits.ts';
import { LimitCounts, reportLimits } from '../../src/edge/limits/limit-counts.ts';
import { FREE_MARK } from '../../src/limits/limit-keys.ts';
import { sumLimits } from '../../src/service/edge-api/limit-routes.ts';
import type { LimitLedger } from '../../src/store/limit-ledger/object/limit-ledger.ts';
import { failed } from '../../src/result.ts';
import { later, testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import { serviceThat } from '../support/service-client.ts';

const WINDOW_MS = 600_000;
const namespace = (testEnv as unknown as { LIMIT_LEDGER: DurableObjectNamespace<LimitLedger> }).LIMIT_LEDGER;
const ledger = (name: string) => namespace.getByName(name);
const current = () => Math.floor(testNow() / WINDOW_MS);
const counter = (key: string, count = 1, window = current()): LimitCounter => ({ key, window, count });

describe('a ledger', () => {
  test('adds what isolates report in parallel, and returns both windows', async () => {
    const stub = ledger('sums');
    const window = current();
    await stub.add(WINDOW_MS, [counter('a', 7, window - 1)]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => stub.add(WINDOW_MS, [counter('a', 2, window), counter('b', 1, window)])),
    );
    const sums = answers.map(([a, b]) => [a![1], b![1]]).toSorted(([one], [other]) => one! - other!);
    expect(sums.at(-1)).toEqual([100, 50]);
    expect(new Set(sums.map(([a]) => a)).size).toBe(50);
    expect(await stub.add(WINDOW_MS, [counter('a', 1, window)])).toEqual([[7, 101]]);
  });

  test('keeps its sums over a restart', async () => {
    await ledger('restart').add(WINDOW_MS, [counter('a', 3)]);
    await expect(runInDurableObject(ledger('restart'), (_, state) => state.abort('restarted'))).rejects.toThrow(
      'restarted',
    );
    expect((await ledger('restart').add(WINDOW_MS, [counter('a')]))[0]![1]).toBe(4);
  });

  test('adds nothing to a window that is over or far ahead, and keeps windows of two lengths apart', async () => {
    const stub = ledger('windows');
    for (const window of [current() - 2, current() + 2]) {
      expect((await stub.add(WINDOW_MS, [counter('a', 5, window)]))[0]![1]).toBe(0);
      expect((await stub.add(WINDOW_MS, [counter('a', 5, window)]))[0]![1]).toBe(0);
    }
    await stub.add(WINDOW_MS, [counter('a', 5)]);
    const seconds = Math.floor(testNow() / 1000);
    expect(await stub.add(1000, [counter('a', 1, seconds)])).toEqual([[0, 1]]);
  });

  test('takes late counts of the window before, and those of a clock that is ahead', async () => {
    const stub = ledger('rolling');
    const window = current();
    await stub.add(WINDOW_MS, [counter('a', 2, window)]);
    expect(await stub.add(WINDOW_MS, [counter('a', 3, window - 1)])).toEqual([[0, 3]]);
    expect(await stub.add(WINDOW_MS, [counter('a', 5, window + 1)])).toEqual([[2, 5]]);
    expect(await stub.add(WINDOW_MS, [counter('a', 1, window)])).toEqual([[0, 3]]);
    expect(await stub.add(WINDOW_MS, [counter('a', 1, window + 1)])).toEqual([[3, 6]]);
  });

  test('adds to buckets of several lengths in one report, and drains them', async () => {
    const stub = ledger('buckets');
    const bucket = (key: string, count: number, windowMs: number) => ({ key, window: 0, count, windowMs, drains: 10 });
    const levels = async (...counters: LimitCounter[]) =>
      (await stub.add(WINDOW_MS, counters)).map(([, level = 0]) => level);
    expect(await levels(bucket('a', 4, 1000), bucket('b', 8, 60_000))).toEqual([4000, 480_000]);
    later(30_000);
    const [a = 0, b = 0] = await levels(bucket('a', 1, 1000), bucket('b', 1, 60_000));
    expect(a).toBe(1000);
    expect(b).toBeLessThanOrEqual(4 * 60_000);
    expect(b).toBeGreaterThan(3 * 60_000);
  });

  test('forgets a counter after the window that follows', async () => {
    const stub = ledger('expiry');
    await stub.add(WINDOW_MS, [counter('a', 3)]);
    const rows = () =>
      runInDurableObject(stub, (_, state) => state.storage.sql.exec('SELECT * FROM sums').toArray().length);
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(1);
    later(2 * WINDOW_MS);
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(0);
  });
});

describe('the room of a ledger', () => {
  const ROOM = 131_072;
  /** Rows that end in a year, up to so many, and a restart, so that the object counts them. */
  async function fill(name: string, rows: number) {
    await expect(
      runInDurableObject(ledger(name), async (_, state) => {
        state.storage.sql.exec(
          `WITH RECURSIVE many(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM many WHERE i < ?)
           INSERT OR IGNORE INTO allowances SELECT 'row-' || i, ?, '1 1' FROM many`,
          rows,
          testNow() + 31_536_000_000,
        );
        await state.storage.sync();
        state.abort('restarted');
      }),
    ).rejects.toThrow('restarted');
  }
  const granted = async (name: string, key: string) => {
    const take = { key, algorithm: 'sliding', count: 5, windowMs: WINDOW_MS, asked: 1 } as const;
    return (await ledger(name).take([take]))[0]?.[0] ?? null;
  };
  /** Whether the second of two reports finds the first. */
  const keeps = async (name: string, key: string) => {
    await ledger(name).add(WINDOW_MS, [counter(key)]);
    return (await ledger(name).add(WINDOW_MS, [counter(key)]))[0]![1] === 2;
  };

  test('is used up to seven eighths by keys that visitors write freely, and the rest is for the others', async () => {
    await fill('room', (ROOM * 7) / 8);
    expect([await granted('room', `${FREE_MARK}key`), await granted('room', 'key')]).toEqual([null, 1]);
    expect([await keeps('room', `${FREE_MARK}sum`), await keeps('room', 'sum')]).toEqual([false, true]);
    await fill('room', ROOM);
    expect([await granted('room', 'another'), await granted('room', 'key')]).toEqual([null, 1]);
  });

  test('is cleaned on time by an object that restarts more often than it is cleaned', async () => {
    const alarm = () => runInDurableObject(ledger('cleaning'), (_, state) => state.storage.getAlarm());
    await ledger('cleaning').add(WINDOW_MS, [counter('a')]);
    const plannedAt = await alarm();
    await expect(runInDurableObject(ledger('cleaning'), (_, state) => state.abort('restarted'))).rejects.toThrow();
    later(WINDOW_MS / 2);
    await ledger('cleaning').add(WINDOW_MS, [counter('b')]);
    expect([plannedAt, await alarm()]).toEqual([expect.any(Number), plannedAt]);
  });
});

describe('POST /edge/v1/limits/report', () => {
  const post = (body: unknown, instance = 'inst_limits'): Promise<Response> => {
    const request = new Request('https://gatehouse.test/edge/v1/limits/report', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return sumLimits.handler({ store: testEnv, instance: { id: instance }, request } as never, {});
  };
  const sumsOf = async (counters: LimitCounter[], instance?: string): Promise<LimitSums> =>
    (await (await post({ windowMs: WINDOW_MS, counters }, instance)).json<{ sums: LimitSums }>()).sums;

  test('returns the sums in the order of the counters, for each instance by itself', async () => {
    const counters = Array.from({ length: LIMIT_COUNTERS_MAX }, (_, index) =>
      counter(`page 10.${index}.0.0/16`, index + 1),
    );
    expect((await sumsOf(counters)).map(([, now]) => now)).toEqual(counters.map(({ count }) => count));
    expect((await sumsOf([counter('page 10.5.0.0/16', 1)]))[0]![1]).toBe(7);
    expect((await sumsOf([counter('page 10.5.0.0/16', 1)], 'inst_other'))[0]![1]).toBe(1);
  });

  test('takes what one isolate can count of the largest limit', async () => {
    expect((await sumsOf([counter('all', 10_000_000)], 'inst_large'))[0]![1]).toBe(10_000_000);
  });

  test('that is refused is told from one without an answer', async () => {
    const service = serviceThat((_, body) => post(JSON.parse(body)));
    expect(await reportLimits(service, [counter('a', 1e9)])).toEqual(failed({ kind: 'refused', status: 400 }));
    const broken = serviceThat(() => new Response('{}', { status: 503 }));
    expect(await reportLimits(broken, [counter('a')])).toEqual(failed({ kind: 'refused', status: 503 }));
  });

  test('refuses a malformed report with 400', () =>
    expectRows<[string, object]>(
      [
        ['no counters', { counters: [] }],
        ['too many counters', { counters: Array.from({ length: LIMIT_COUNTERS_MAX + 1 }, () => counter('a')) }],
        ['a count of 0', { counters: [counter('a', 0)] }],
        ['a huge count', { counters: [counter('a', 1e9)] }],
        ['a negative window', { counters: [counter('a', 1, -1)] }],
        ['a fraction', { counters: [counter('a', 1.5)] }],
        ['an empty key', { counters: [counter('')] }],
        ['a long key', { counters: [counter('a'.repeat(97))] }],
        ['a key with a line break', { counters: [counter('a\nb')] }],
        ['a window of a millisecond', { windowMs: 1, counters: [counter('a')] }],
        ['a bucket that nothing leaves', { counters: [{ ...counter('a', 1, 0), drains: 0 }] }],
        ['an unknown field', { counters: [{ ...counter('a'), limit: 3 }] }],
      ],
      async ([, body]) => {
        const response = await post({ windowMs: WINDOW_MS, ...body });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { key: 'API.INVALID_BODY' } });
      },
    ));

  test.each([2, 8])(
    '%d isolates share a limit through it and exceed it by a sixth of it each at most',
    async (isolates) => {
      const budget = { count: 30, windowMs: WINDOW_MS, isBucket: false, leash: 5 };
      const service = serviceThat((_, body) => post(JSON.parse(body), `inst_${isolates}`));
      const works: Promise<unknown>[] = [];
      const all = Array.from(
        { length: isolates },
        () =>
          new LimitCounts({
            report: (counters) => reportLimits(service, counters),
            now: testNow,
            sleep: (ms) => scheduler.wait(ms),
            count: () => {},
          }),
      );
      let taken = 0;
      for (let refused = 0; refused < 5;) {
        let inRound = 0;
        for (let attempt = 0; attempt < 20; attempt++) {
          for (const counts of all) {
            if (counts.waitMs('page 192.0.2.0/24', budget, testNow()) > 0) continue;
            counts.take('page 192.0.2.0/24', budget, testNow());
            counts.report(testNow(), (work) => works.push(work));
            inRound++;
          }
        }
        await Promise.all(works.splice(0));
        taken += inRound;
        refused = inRound === 0 ? refused + 1 : 0;
      }
      expect(taken).toBeGreaterThanOrEqual(30);
      expect(taken).toBeLessThanOrEqual(30 + isolates * 5);
    },
  );
});
