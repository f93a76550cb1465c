/** Exact limits at the ledger: never one too many, over restarts, clocks and many askers, and few rows. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env as testEnv } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { LIMIT_TAKES_MAX, type LimitTake, type LimitTakings } from '../../src/contract/edge/limits.ts';
import { grantLimits } from '../../src/service/edge-api/limit-routes.ts';
import type { LimitLedger } from '../../src/store/limit-ledger/object/limit-ledger.ts';
import { later, setClock, testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const namespace = (testEnv as unknown as { LIMIT_LEDGER: DurableObjectNamespace<LimitLedger> }).LIMIT_LEDGER;
const ledger = (name: string) => namespace.getByName(`takes/${name}`);
const take = (over: Partial<LimitTake> = {}): LimitTake => ({
  key: 'a',
  algorithm: 'sliding',
  count: 50,
  windowMs: 60_000,
  asked: 1,
  ...over,
});
const granted = (takings: readonly (readonly number[] | null)[]): number[] =>
  takings.map((taking) => taking?.[0] ?? -1);

describe('an exact limit', () => {
  test.each(['sliding', 'bucket'] as const)(
    'grants its count to 300 parallel askers, and no more (%s)',
    async (algorithm) => {
      const stub = ledger(`parallel-${algorithm}`);
      // A bucket of a day gives back nothing while the test runs.
      const asked = take({ algorithm, windowMs: 86_400_000 });
      const answers = await Promise.all(Array.from({ length: 300 }, () => stub.take([asked])));
      expect(answers.flatMap((answer) => granted(answer)).reduce((sum, one) => sum + one)).toBe(50);
    },
  );

  test('grants a part of what is asked for at once, and says what is left and when the next use passes', async () => {
    const stub = ledger('parts');
    expect(await stub.take([take({ asked: 30 })])).toEqual([[30, 20, 0]]);
    const [second] = await stub.take([take({ asked: 30 })]);
    const waitMs = second?.[2];
    expect(second).toEqual([20, 0, waitMs]);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    later(60_001);
    expect(granted(await stub.take([take({ asked: 60 })]))).toEqual([50]);
  });

  test('goes on after a restart as before, in the middle of a run', async () => {
    const name = 'restart';
    let passed = 0;
    for (let round = 0; round < 6; round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ledger(name).take([take()])));
      passed += answers.flatMap((answer) => granted(answer)).reduce((sum, one) => sum + one);
      await expect(runInDurableObject(ledger(name), (_, state) => state.abort('restarted'))).rejects.toThrow(
        'restarted',
      );
    }
    expect(passed).toBe(50);
  });

  test('writes a row for what it grants and none for what it refuses', async () => {
    const stub = ledger('rows');
    await stub.take([take({ asked: 50 })]);
    const changes = () =>
      runInDurableObject(stub, (_, state) =>
        state.storage.sql.exec<{ n: number }>('SELECT total_changes() AS n').one(),
      );
    const before = await changes();
    for (let flood = 0; flood < 20; flood++) await stub.take([take({ asked: 100 })]);
    expect(await changes()).toEqual(before);
  });

  test('a clock that goes back gives nothing back and locks nobody out for longer than a window', async () => {
    const stub = ledger('clock');
    const nowMs = testNow();
    await stub.take([take({ asked: 50 }), take({ key: 'b', algorithm: 'bucket', asked: 50 })]);
    setClock(nowMs - 3_600_000);
    const both = [take(), take({ key: 'b', algorithm: 'bucket' })];
    expect(granted(await stub.take(both))).toEqual([0, 0]);
    setClock(nowMs - 3_600_000 + 61_000);
    expect(granted(await stub.take(both))).toEqual([1, 1]);
  });

  test('many uses of a window stay one bounded row', async () => {
    const stub = ledger('bounded');
    const startMs = testNow();
    for (let use = 0; use < 200; use++) {
      setClock(startMs + use * 200);
      await stub.take([take({ count: 1_000_000 })]);
    }
    const state = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec<{ state: string }>('SELECT state FROM allowances').one(),
    );
    expect(state.state.length).toBeLessThan(2000);
    expect((await stub.take([take({ count: 201 })]))[0]).toMatchObject({ 0: 1, 1: 0 });
  });

  test('forgets a key when nothing of it counts any more', async () => {
    const stub = ledger('expiry');
    await stub.take([take()]);
    const rows = () =>
      runInDurableObject(stub, (_, state) => state.storage.sql.exec('SELECT * FROM allowances').toArray().length);
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(1);
    later(61_000);
    await runDurableObjectAlarm(stub);
    expect(await rows()).toBe(0);
  });
});

describe('POST /edge/v1/limits/take', () => {
  const post = (body: unknown, instance = 'inst_takes'): Promise<Response> => {
    const request = new Request('https://gatehouse.test/edge/v1/limits/take', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return grantLimits.handler({ store: testEnv, instance: { id: instance }, request } as never, {});
  };

  test('answers in the order of the takes, for each instance by itself', async () => {
    const takes = Array.from({ length: LIMIT_TAKES_MAX }, (_, index) =>
      take({ key: `key-${index}`, asked: index + 1 }),
    );
    const answer = await (await post({ takes })).json<{ takings: LimitTakings }>();
    expect(granted(answer.takings)).toEqual(takes.map(({ asked }) => Math.min(asked, 50)));
    const other = await (
      await post({ takes: [take({ key: 'key-60', asked: 50 })] }, 'inst_other')
    ).json<{
      takings: LimitTakings;
    }>();
    expect(granted(other.takings)).toEqual([50]);
  });

  test('says nothing about the keys of an object that does not answer', async () => {
    const broken = { getByName: () => ({ take: () => Promise.reject(new Error('The object was reset.')) }) };
    const request = new Request('https://gatehouse.test/edge/v1/limits/take', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ takes: [take(), take({ key: 'b' })] }),
    });
    const store = { ...testEnv, LIMIT_LEDGER: broken };
    const response = await grantLimits.handler({ store, instance: { id: 'inst_broken' }, request } as never, {});
    expect(await response.json()).toEqual({ takings: [null, null] });
  });

  test('refuses a malformed take with 400', () =>
    expectRows<[string, object]>(
      [
        ['no takes', { takes: [] }],
        ['too many takes', { takes: Array.from({ length: LIMIT_TAKES_MAX + 1 }, () => take()) }],
        ['nothing asked', { takes: [take({ asked: 0 })] }],
        ['a count of 0', { takes: [take({ count: 0 })] }],
        ['a window of 0', { takes: [take({ windowMs: 0 })] }],
        ['another algorithm', { takes: [{ ...take(), algorithm: 'fixed' }] }],
        ['a fraction', { takes: [take({ asked: 1.5 })] }],
        ['an unknown field', { takes: [{ ...take(), limit: 3 }] }],
      ],
      async ([, body]) => {
        expect((await post(body)).status).toBe(400);
      },
    ));
});
