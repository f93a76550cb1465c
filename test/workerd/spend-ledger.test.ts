/** The ledger itself: one winner, a kept answer, exact counters, and tables that go when their time is over. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env as testEnv } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { REPLAY_MS } from '../../src/store/spend-ledger.ts';
import type { SpendLedger, SpendRequest } from '../../src/store/spend-ledger.ts';

const namespace = (testEnv as unknown as { SPEND_LEDGER: DurableObjectNamespace<SpendLedger> }).SPEND_LEDGER;
const ledger = (name: string): DurableObjectStub<SpendLedger> => namespace.get(namespace.idFromName(name));
const request = (over: Partial<SpendRequest> = {}): SpendRequest => ({
  key: 'site:jti',
  bornAt: Date.now(),
  fingerprint: null,
  answer: 'answer',
  ...over,
});
const HOUR_MS = 3_600_000;

async function tables(stub: DurableObjectStub<SpendLedger>): Promise<string[]> {
  return runInDurableObject(stub, (_, state) =>
    state.storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'spent_[0-9]*'")
      .toArray()
      .map((row) => row.name),
  );
}

describe('spending', () => {
  it('has one winner among 200', async () => {
    const stub = ledger('race');
    const one = request();
    const results = await Promise.all(Array.from({ length: 200 }, () => stub.spend(one)));
    expect(results.filter((result) => result.spent)).toHaveLength(1);
  });

  it('keeps the answer for the same question only', async () => {
    const stub = ledger('replay');
    const first = request({ fingerprint: 'f' });
    expect(await stub.spend(first)).toEqual({ spent: true, replay: null });
    expect(await stub.spend(first)).toEqual({ spent: false, replay: 'answer' });
    expect(await stub.recall(first.key, first.bornAt, 'f')).toBe('answer');
    expect(await stub.spend({ ...first, fingerprint: 'g' })).toEqual({ spent: false, replay: null });
    expect(await stub.spend({ ...first, fingerprint: null })).toEqual({ spent: false, replay: null });
    expect(await stub.recall(first.key, first.bornAt, 'g')).toBeNull();
  });

  it('forgets the answer after ten minutes, and not that it was spent', async () => {
    const stub = ledger('forget');
    const first = request({ fingerprint: 'f' });
    await stub.spend(first);
    await runInDurableObject(stub, (_, state) => {
      const [name] = state.storage.sql
        .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'spent_[0-9]*'")
        .toArray();
      state.storage.sql.exec(`UPDATE ${name?.name} SET spent_at = spent_at - ?`, REPLAY_MS + 1);
    });
    expect(await stub.spend(first)).toEqual({ spent: false, replay: null });
  });

  it('refuses what is older than any token can be, whose table may be gone', async () => {
    const old = request({ bornAt: Date.now() - 2 * HOUR_MS });
    expect(await ledger('old').spend(old)).toEqual({ spent: false, replay: null });
  });

  it('drops a table by alarm once no token of its time can be alive', async () => {
    const stub = ledger('epochs');
    await stub.spend(request({ bornAt: Date.now() - 50 * 60_000 }));
    await stub.spend(request({ bornAt: Date.now() }));
    expect(await tables(stub)).toHaveLength(2);
    vi.useFakeTimers({ now: Date.now() + 30 * 60_000, toFake: ['Date'] });
    try {
      expect(await runDurableObjectAlarm(stub)).toBe(true);
      expect(await tables(stub)).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('knows after a restart what was spent before it', async () => {
    const stub = ledger('restart');
    const one = request();
    await stub.spend(one);
    await runInDurableObject(stub, async (instance, state) => {
      const { constructor } = instance as unknown as {
        constructor: new (s: DurableObjectState, e: unknown) => SpendLedger;
      };
      const again = new constructor(state, testEnv);
      expect(await again.spend(one)).toEqual({ spent: false, replay: null });
    });
  });
});

describe('counting', () => {
  it('is exact among parallel uses', async () => {
    const stub = ledger('count');
    const uses = await Promise.all(
      Array.from({ length: 500 }, () => stub.count({ key: 'k', limit: 7, windowMs: 60_000 })),
    );
    expect(uses.filter(Boolean)).toHaveLength(7);
    expect(await stub.count({ key: 'other', limit: 7, windowMs: 60_000 })).toBe(true);
  });

  it('begins again when the window is over', async () => {
    const stub = ledger('window');
    expect(await stub.count({ key: 'k', limit: 1, windowMs: 50 })).toBe(true);
    expect(await stub.count({ key: 'k', limit: 1, windowMs: 50 })).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await stub.count({ key: 'k', limit: 1, windowMs: 50 })).toBe(true);
  });
});
