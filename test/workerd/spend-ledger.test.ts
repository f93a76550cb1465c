/** The ledger itself: one winner, a kept answer, exact counters, and tables that are dropped in time. */
import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env as testEnv } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { countUses } from '../../src/store/spend-ledger/client/count-uses.ts';
import { REPLAY_MS, type SpendLedger } from '../../src/store/spend-ledger/object/spend-ledger.ts';
import { later, testNow } from '../support/clock.ts';
import type { SpendRequest, SpendRow } from '../../src/store/spend-ledger/rpc.ts';

const namespace = (testEnv as unknown as { SPEND_LEDGER: DurableObjectNamespace<SpendLedger> }).SPEND_LEDGER;
const ledger = (name: string): DurableObjectStub<SpendLedger> => namespace.get(namespace.idFromName(name));
const request = (over: Partial<SpendRequest> = {}): SpendRequest => ({
  key: 'site:jti',
  bornAt: testNow(),
  fingerprint: null,
  answer: 'answer',
  ...over,
});
const HOUR_MS = 3_600_000;
let calls = 0;
const row = (one: SpendRequest, callId = `call-${calls++}`): SpendRow => [
  one.key,
  one.bornAt,
  one.fingerprint,
  one.answer,
  callId,
];

async function spend(stub: DurableObjectStub<SpendLedger>, one: SpendRequest): Promise<boolean | string | undefined> {
  return (await stub.spendAll([row(one)]))[0];
}

function countersOf(sql: SqlStorage): { key: string; used: number }[] {
  const named = "SELECT name FROM sqlite_master WHERE name GLOB 'uses_[0-9]*'";
  return sql
    .exec<{ name: string }>(named)
    .toArray()
    .flatMap(({ name }) => sql.exec<{ key: string; used: number }>(`SELECT key, used FROM ${name}`).toArray());
}

/** A new object on the same storage, as after an eviction. */
function restarted(instance: SpendLedger, state: DurableObjectState): SpendLedger {
  const { constructor } = instance as unknown as {
    constructor: new (s: DurableObjectState, e: unknown) => SpendLedger;
  };
  return new constructor(state, testEnv);
}

async function tables(stub: DurableObjectStub<SpendLedger>): Promise<string[]> {
  return runInDurableObject(stub, (_, state) =>
    state.storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'spent_[0-9]*'")
      .toArray()
      .map(({ name }) => name),
  );
}

describe('spending', () => {
  test('has one winner among 200', async () => {
    const stub = ledger('race');
    const one = request();
    const results = await Promise.all(Array.from({ length: 200 }, () => spend(stub, one)));
    expect(results.filter((result) => result === true)).toHaveLength(1);
    expect(results.filter((result) => result === false)).toHaveLength(199);
  });

  test('has one winner among 200 in batches, within each and across them', async () => {
    const stub = ledger('batches');
    const one = request();
    const other = request({ key: 'edge:jti' });
    const batches = Array.from({ length: 8 }, () =>
      Array.from({ length: 50 }, (_, index) => row(index % 2 === 0 ? one : other)),
    );
    const results = (await Promise.all(batches.map((batch) => stub.spendAll(batch)))).flat();
    const wonBy = (parity: number): number =>
      results.filter((won, index) => won === true && index % 2 === parity).length;
    expect([wonBy(0), wonBy(1)]).toEqual([1, 1]);
  });

  test('returns the same result to a repeated call', async () => {
    const stub = ledger('again');
    const [winner, loser] = [row(request()), row(request())];
    expect(await stub.spendAll([winner, loser])).toEqual([true, false]);
    expect(await stub.spendAll([loser, winner, winner])).toEqual([false, true, true]);
  });

  test("returns the winner's answer to the same question within one batch", async () => {
    const one = request({ fingerprint: 'f' });
    const rows = [row(one), row({ ...one, answer: 'later' }), row({ ...one, fingerprint: 'g' })];
    expect(await ledger('batch-replay').spendAll(rows)).toEqual([true, 'answer', false]);
  });

  test('stores no spend of a batch that fails', async () => {
    const stub = ledger('failing');
    const good = row(request());
    const bad = ['bad', testNow(), null, null, 'call'] as unknown as SpendRow;
    // Inside the object: the test runner also reports a rejection that reaches the caller as unhandled.
    await runInDurableObject(stub, async (object) => {
      await expect(object.spendAll([good, bad])).rejects.toThrow('NOT NULL');
    });
    expect(await stub.spendAll([row(request())])).toEqual([true]);
  });

  test('returns the kept answer to the same question only', async () => {
    const stub = ledger('replay');
    const first = request({ fingerprint: 'f' });
    expect(await spend(stub, first)).toBe(true);
    expect(await spend(stub, first)).toBe('answer');
    expect(await stub.recall(first.key, first.bornAt, 'f')).toBe('answer');
    expect(await spend(stub, { ...first, fingerprint: 'g' })).toBe(false);
    expect(await spend(stub, { ...first, fingerprint: null })).toBe(false);
    expect(await stub.recall(first.key, first.bornAt, 'g')).toBeNull();
  });

  test('forgets the answer after ten minutes, but not the spend', async () => {
    const stub = ledger('forget');
    const first = request({ fingerprint: 'f' });
    await spend(stub, first);
    await runInDurableObject(stub, (_, state) => {
      const [name] = state.storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'spent_[0-9]*'")
        .toArray();
      state.storage.sql.exec(`UPDATE ${name?.name} SET spent_at = spent_at - ?`, REPLAY_MS + 1);
    });
    expect(await spend(stub, first)).toBe(false);
  });

  test('refuses keys older than any valid token, because their table may be dropped', async () => {
    const old = request({ bornAt: testNow() - 2 * HOUR_MS });
    expect(await spend(ledger('old'), old)).toBe(false);
  });

  test('drops a table in the alarm once every token of its time has expired', async () => {
    const stub = ledger('epochs');
    await spend(stub, request({ bornAt: testNow() - 50 * 60_000 }));
    await spend(stub, request({ bornAt: testNow() }));
    expect(await tables(stub)).toHaveLength(2);
    later(30 * 60_000);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await tables(stub)).toHaveLength(1);
  });

  test('remembers spends after a restart', async () => {
    const stub = ledger('restart');
    const one = request();
    await spend(stub, one);
    await runInDurableObject(stub, async (instance, state) => {
      expect(await restarted(instance, state).spendAll([row(one)])).toEqual([false]);
    });
  });
});

describe('counting', () => {
  test('is exact for parallel uses', async () => {
    const stub = ledger('count');
    const uses = await Promise.all(
      Array.from({ length: 500 }, () => stub.count([{ key: 'k', limit: 7, windowMs: 60_000 }])),
    );
    expect(uses.filter(Boolean)).toHaveLength(7);
    expect(await stub.count([{ key: 'other', limit: 7, windowMs: 60_000 }])).toBe(true);
  });

  test('counts keys together or not at all', async () => {
    const stub = ledger('together');
    const both = (own: string): Promise<boolean> =>
      stub.count([
        { key: own, limit: 3, windowMs: 60_000 },
        { key: 'larger', limit: 5, windowMs: 60_000 },
      ]);
    const first = await Promise.all(Array.from({ length: 100 }, () => both('one')));
    expect(first.filter(Boolean)).toHaveLength(3);
    const second = await Promise.all(Array.from({ length: 100 }, () => both('two')));
    expect(second.filter(Boolean)).toHaveLength(2);
    expect(await stub.count([{ key: 'two', limit: 3, windowMs: 60_000 }])).toBe(true);
    expect(await stub.count([{ key: 'two', limit: 3, windowMs: 60_000 }])).toBe(false);
  });

  test('starts again when the window is over', async () => {
    const stub = ledger('window');
    const windowMs = 30_000;
    expect(await stub.count([{ key: 'k', limit: 1, windowMs }])).toBe(true);
    expect(await stub.count([{ key: 'k', limit: 1, windowMs }])).toBe(false);
    later(windowMs + 1);
    expect(await stub.count([{ key: 'k', limit: 1, windowMs }])).toBe(true);
  });

  test('never lets more through after a restart, and refuses a sixteenth of the limit too early at most', async () => {
    for (const limit of [1, 7, 16, 120, 1200]) {
      await runInDurableObject(ledger(`ahead-${limit}`), async (instance, state) => {
        const use = [{ key: 'k', limit, windowMs: 60_000 }];
        let object = instance;
        let passed = 0;
        for (let n = 0; n < 2 * limit; n++) {
          if (n === Math.floor(limit / 2)) object = restarted(object, state);
          if (await object.count(use)) passed++;
        }
        expect(passed).toBeLessThanOrEqual(limit);
        expect(passed).toBeGreaterThanOrEqual(limit - Math.floor(limit / 16));
        expect(await restarted(object, state).count(use)).toBe(false);
      });
    }
  });

  test('keeps an earlier alarm after a restart', async () => {
    await runInDurableObject(ledger('earlier-alarm'), async (instance, state) => {
      await instance.count([{ key: 'short', limit: 5, windowMs: 60_000 }]);
      const set = await state.storage.getAlarm();
      await restarted(instance, state).count([{ key: 'long', limit: 5, windowMs: HOUR_MS }]);
      expect(set).not.toBeNull();
      expect(await state.storage.getAlarm()).toBe(set);
    });
  });

  test('keeps no row of a window that ended ten minutes ago', async () => {
    await runInDurableObject(ledger('ended-windows'), async (instance, state) => {
      await instance.count([{ key: 'short', limit: 5, windowMs: 1000 }]);
      await instance.count([{ key: 'long', limit: 5, windowMs: HOUR_MS }]);
      later(11 * 60_000);
      await instance.alarm();
      expect(countersOf(state.storage.sql)).toEqual([{ key: 'long', used: 1 }]);
      expect(await restarted(instance, state).count([{ key: 'short', limit: 1, windowMs: 1000 }])).toBe(true);
    });
  });

  test('keeps counters of one site and purpose in objects of their own, so that a full one refuses no other', async () => {
    const uses = ['attempt one', 'attempt two', 'mailbox one'].flatMap((counted) =>
      Array.from({ length: 40 }, (_, at) => `${counted} ${at}`),
    );
    await Promise.all(
      uses.map((use) => {
        const [purpose = '', site = '', group = ''] = use.split(' ');
        const together = { purpose, site, group, windowMs: 60_000 };
        return countUses(testEnv as unknown as ServiceEnv, together, [{ key: group, limit: 1 }]);
      }),
    );
    const counted = new Set(['attempt one', 'attempt two', 'mailbox one']);
    for (const id of await listDurableObjectIds(namespace)) {
      const keys = await runInDurableObject(namespace.get(id), (_, { storage }) => countersOf(storage.sql));
      const here = keys.map(({ key }) => key.split(' ', 2).join(' ')).filter((name) => counted.has(name));
      expect(new Set(here).size).toBeLessThanOrEqual(1);
    }
  });
});
