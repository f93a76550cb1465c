/** Batches of spends: which spends share a call, and what happens to each of them when the call fails. */
import { describe, expect, test } from 'vitest';
import {
  SpendBatcher,
  SPENDS_PER_BATCH_MAX,
  type SpendWay,
} from '../../src/store/spend-ledger/client/spend-batcher.ts';
import type { SpendResult, SpendRow } from '../../src/store/spend-ledger/rpc.ts';
import { testNow } from '../support/clock.ts';

const row = (key: string, callId = key): SpendRow => [key, 0, null, '', callId];
const won: SpendResult = { spent: true, replay: null };
const lost: SpendResult = { spent: false, replay: null };

/** A way to the ledger that records what it sent and returns `spent` for every row. */
function way(answer: (rows: readonly SpendRow[]) => Promise<SpendResult[]> = async (rows) => rows.map(() => won)): {
  sent: string[][];
} & SpendWay {
  const sent: string[][] = [];
  return {
    sent,
    send(rows) {
      sent.push(rows.map(([, , , , callId]) => callId));
      return answer(rows);
    },
    waitUntil: () => undefined,
  };
}

describe('spends of one isolate', () => {
  test('share one call when they arrive together, and each gets its own result', async () => {
    const batcher = new SpendBatcher();
    const first = way(async (rows) => rows.map(([key]) => (key === 'b' ? lost : won)));
    const other = way();
    const now = testNow();
    const answers = await Promise.all([
      batcher.spend('ledger', row('a'), first, now),
      batcher.spend('ledger', row('b'), other, now),
      batcher.spend('ledger', row('c'), other, now),
    ]);
    expect(answers).toEqual([won, lost, won]);
    expect([first.sent, other.sent]).toEqual([[['a', 'b', 'c']], []]);
  });

  test('go to different ledgers separately, and in batches of bounded size', async () => {
    const batcher = new SpendBatcher();
    const all = way();
    const now = testNow();
    const keys = Array.from({ length: SPENDS_PER_BATCH_MAX + 1 }, (_, index) => `k${index}`);
    await Promise.all([
      ...keys.map((key) => batcher.spend('one', row(key), all, now)),
      batcher.spend('two', row('x'), all, now),
    ]);
    expect(all.sent.map((batch) => batch.length).toSorted((a, b) => a - b)).toEqual([1, 1, SPENDS_PER_BATCH_MAX]);
  });

  test('all fail when their call fails', async () => {
    const batcher = new SpendBatcher();
    const broken = way(() => Promise.reject(new Error('no ledger')));
    const now = testNow();
    const answers = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => batcher.spend('ledger', row(key), broken, now)),
    );
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(broken.sent).toHaveLength(1);
  });

  test('fail when the ledger returns no result for them', async () => {
    const batcher = new SpendBatcher();
    const short = way(async () => [won]);
    const now = testNow();
    const answers = await Promise.allSettled(['a', 'b'].map((key) => batcher.spend('ledger', row(key), short, now)));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('repeat their call alone, under the same call id, when the sending request is gone', async () => {
    const batcher = new SpendBatcher(30);
    const gone = way(() => new Promise(() => undefined));
    const alive = way();
    const now = testNow();
    void batcher.spend('ledger', row('a'), gone, now);
    expect(await batcher.spend('ledger', row('b', 'call-b'), alive, now)).toEqual(won);
    expect([gone.sent, alive.sent]).toEqual([[['a', 'call-b']], [['call-b']]]);
  });

  test('do not join a batch whose request ended before sending it', async () => {
    const batcher = new SpendBatcher();
    const now = testNow();
    void batcher.spend('ledger', row('a'), way(), now - 1000);
    const later = way();
    expect(await batcher.spend('ledger', row('b'), later, now)).toEqual(won);
    expect(later.sent).toEqual([['b']]);
  });
});
