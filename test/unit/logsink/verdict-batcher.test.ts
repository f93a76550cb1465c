/** The edge's batcher: what is sent, when, with which ids, and what is counted when delivery fails. */
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { type SinkBatch, SinkError, type VerdictSink } from '../../../src/logsink/sink.ts';
import { VerdictBatcher, type VerdictBatcherOptions } from '../../../src/logsink/verdict-batcher.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

/** A sink that records its batches and fails on demand. */
function sinkOf(name: string, fails: (attempt: number) => Error | null = () => null) {
  const attempts: SinkBatch[] = [];
  const taken: SinkBatch[] = [];
  const sink: VerdictSink = {
    name,
    carriesCounters: true,
    usesFallback: true,
    async send(batch) {
      attempts.push(batch);
      const failure = fails(attempts.length);
      if (failure) throw failure;
      taken.push(batch);
    },
  };
  return { sink, attempts, taken, ids: () => taken.flatMap(({ records }) => records.map(({ id }) => id)) };
}

/** A batcher whose windows and back-offs end when the test ends them. */
function harness(options: Partial<VerdictBatcherOptions> & Pick<VerdictBatcherOptions, 'sinks'>) {
  let clock = 1_000_000;
  let sleepers: { ms: number; wake: () => void }[] = [];
  const work: Promise<unknown>[] = [];
  const batcher = new VerdictBatcher({
    isolateId: 'isolate-1',
    clock: {
      nowMs: () => clock,
      sleep: (ms) =>
        new Promise((wake) => {
          sleepers.push({ ms, wake });
        }),
    },
    ...options,
  });
  let made = 0;
  return {
    batcher,
    add: (count = 1): string[] =>
      Array.from({ length: count }, () => {
        const edge = { colo: 'FRA', version: '0.1.0', isolate: 'isolate-1', seq: batcher.nextSeq() };
        const record: VerdictRecord = verdictRecordOf('instance-1', { timestamp: clock + made++, edge });
        batcher.add(record, (promise) => work.push(promise));
        return record.id;
      }),
    sleeping: () => sleepers.map(({ ms }) => ms),
    /** Ends the sleeps that are under way. */
    wake: async (): Promise<void> => {
      const due = sleepers;
      sleepers = [];
      for (const { wake } of due) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
    pass: (ms: number): void => {
      clock += ms;
    },
    /** Ends every sleep, again and again, until all work is done. */
    settle: async (): Promise<void> => {
      const all = { done: false };
      void Promise.all(work).then(() => (all.done = true));
      while (!all.done) {
        const due = sleepers;
        sleepers = [];
        for (const { wake } of due) wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    started: () => work.length,
  };
}

const unreachable = (): Error => new SinkError('503', true);

describe('batching', () => {
  test('records of several requests leave together when the window ends', async () => {
    const log = sinkOf('service');
    const { add, settle, sleeping, started } = harness({ sinks: [log.sink] });
    const ids = [...add(), ...add(), ...add()];
    expect(log.attempts).toHaveLength(0);
    expect([started(), sleeping()]).toEqual([1, [250]]);
    await settle();
    expect(log.taken).toHaveLength(1);
    expect(log.ids()).toEqual(ids);
  });

  test('under load the window stays open for a second, so that batches grow', async () => {
    const log = sinkOf('service');
    const { add, settle, sleeping, wake } = harness({ sinks: [log.sink] });
    const ids = add(8);
    await wake();
    expect([log.attempts.length, sleeping()]).toEqual([0, [750]]);
    ids.push(...add(40));
    await settle();
    expect(log.taken.map(({ records }) => records.length)).toEqual([48]);
    expect(log.ids()).toEqual(ids);
  });

  test('a lone record leaves at the end of the first window', async () => {
    const log = sinkOf('service');
    const { add, wake } = harness({ sinks: [log.sink] });
    add();
    await wake();
    expect(log.taken.map(({ records }) => records.length)).toEqual([1]);
  });

  test('the five hundredth record sends a batch at once, in its own request', () => {
    const log = sinkOf('service');
    const { add } = harness({ sinks: [log.sink] });
    add(499);
    expect(log.attempts).toHaveLength(0);
    add();
    expect(log.attempts.map(({ records }) => records.length)).toEqual([500]);
  });

  test.each([
    [{}, 500],
    [{ recordsMax: 250 }, 250],
  ])('no batch holds more than its sinks take: %o', async (limits, most) => {
    const log = sinkOf('service');
    const { add, settle } = harness({ sinks: [{ ...log.sink, ...limits }, sinkOf('console').sink] });
    const ids = add(1234);
    await settle();
    expect(Math.max(...log.taken.map(({ records }) => records.length))).toBe(most);
    expect(log.ids().toSorted()).toEqual(ids.toSorted());
  });

  test('a batch names its isolate and its range, and how many records wait behind it', async () => {
    const log = sinkOf('service', (attempt) => (attempt === 1 ? unreachable() : null));
    const { batcher, add, settle } = harness({ sinks: [log.sink] });
    add(5);
    for (let request = 0; request < 2; request++) batcher.nextSeq();
    await settle();
    const ranges = log.attempts.map(({ isolate, firstSeq, lastSeq, held }) => [isolate, firstSeq, lastSeq, held]);
    expect(ranges).toEqual([
      ['isolate-1', 0, 4, 2],
      ['isolate-1', 0, 4, 2],
    ]);
    expect(log.attempts[1]?.records).toBe(log.attempts[0]?.records);
  });

  test('records are held until a sink has them, and dropped ones no longer', async () => {
    const log = sinkOf('service', (attempt) => (attempt === 1 ? null : new SinkError('401', false)));
    const { batcher, add, settle } = harness({ sinks: [log.sink] });
    add(500);
    add(3);
    expect(batcher.held).toBe(503);
    await settle();
    expect([log.ids().length, batcher.held]).toEqual([500, 0]);
  });

  test('a window whose request ended is replaced by the next record', async () => {
    const log = sinkOf('service');
    const { add, pass, started, settle } = harness({ sinks: [log.sink] });
    add();
    pass(2500);
    add();
    expect(started()).toBe(2);
    await settle();
    expect(log.ids()).toHaveLength(2);
  });

  test('batches whose requests ended do not use up the bound', async () => {
    const sent: number[] = [];
    let dead = true;
    const sink: VerdictSink = {
      name: 'console',
      async send({ records }) {
        if (dead) await new Promise(() => undefined);
        sent.push(records.length);
      },
    };
    const batcher = harness({ sinks: [sink] });
    batcher.add(16 * 500);
    dead = false;
    batcher.add(500);
    expect(sent).toEqual([]);
    batcher.pass(61_000);
    batcher.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toEqual([500, 1]);
  });

  test('every sink gets every record, and a failing sink does not affect the others', async () => {
    const good = sinkOf('console');
    const bad = sinkOf('http', unreachable);
    const { add, settle } = harness({ sinks: [bad.sink, good.sink] });
    const ids = add(3);
    await settle();
    expect(good.ids()).toEqual(ids);
    expect(bad.taken).toHaveLength(0);
  });

  test('sequence numbers rise from zero', () => {
    const { batcher } = harness({ sinks: [] });
    expect([batcher.nextSeq(), batcher.nextSeq(), batcher.nextSeq()]).toEqual([0, 1, 2]);
  });
});

describe('a sink that fails', () => {
  test('is tried three times with the same batch and the same ids', async () => {
    const log = sinkOf('service', (attempt) => (attempt < 3 ? unreachable() : null));
    const { add, settle } = harness({ sinks: [log.sink] });
    const ids = add(5);
    await settle();
    expect(log.attempts).toHaveLength(3);
    expect(new Set(log.attempts.map(({ batchId }) => batchId)).size).toBe(1);
    expect(log.ids()).toEqual(ids);
  });

  test('after all attempts passes the same ids to the fallback', async () => {
    const log = sinkOf('service', unreachable);
    const queue = sinkOf('queue');
    const { add, settle } = harness({ sinks: [log.sink], fallback: queue.sink });
    const ids = add(5);
    await settle();
    expect(log.attempts).toHaveLength(3);
    expect(queue.ids()).toEqual(ids);
    expect(queue.taken[0]?.batchId).toBe(log.attempts[0]?.batchId);
  });

  test('with a refusal is not tried again', async () => {
    const log = sinkOf('service', () => new SinkError('401', false));
    const queue = sinkOf('queue');
    const { add, settle } = harness({ sinks: [log.sink], fallback: queue.sink });
    add();
    await settle();
    expect([log.attempts.length, queue.taken.length]).toEqual([1, 1]);
  });

  test('together with the fallback drops, and the drop is counted in the next batch that arrives', async () => {
    let broken = true;
    const log = sinkOf('service', () => (broken ? unreachable() : null));
    const queue = sinkOf('queue', () => (broken ? unreachable() : null));
    const { batcher, add, settle } = harness({ sinks: [log.sink], fallback: queue.sink });
    batcher.count('verdicts_total', 7);
    add(7);
    await settle();
    broken = false;
    add(1);
    await settle();
    expect(log.taken.map(({ counters }) => counters)).toEqual([
      {
        verdicts_total: 7,
        'log_sink_failures{sink="service"}': 3,
        'log_sink_failures{sink="queue"}': 1,
        'verdicts_dropped{reason="service-failed"}': 7,
      },
    ]);
  });

  test('slowly fills a bounded buffer; what does not fit is counted', async () => {
    const { promise: stuck, resolve: release } = Promise.withResolvers<void>();
    const delivered: SinkBatch[] = [];
    const sink: VerdictSink = {
      name: 'service',
      carriesCounters: true,
      async send(batch) {
        await stuck;
        delivered.push(batch);
      },
    };
    const { add, settle } = harness({ sinks: [sink], bounds: { bufferMaxEntries: 500 } });
    // Sixteen batches are under way, five hundred records wait, and the rest does not fit.
    const ids = add(16 * 500 + 500 + 30);
    release();
    await settle();
    add(1);
    await settle();
    const counters = delivered.map((batch) => batch.counters);
    expect(delivered.flatMap(({ records }) => records)).toHaveLength(ids.length - 30 + 1);
    expect(counters).toContainEqual({ 'verdicts_dropped{reason="buffer-full"}': 30 });
  });
});

test('counters arrive exactly once', async () => {
  const log = sinkOf('service', (attempt) => (attempt === 1 ? unreachable() : null));
  const { batcher, add, settle } = harness({ sinks: [log.sink] });
  batcher.count('requests');
  batcher.count('requests', 2);
  add();
  await settle();
  add();
  await settle();
  const sums = log.taken.map(({ counters }) => counters['requests'] ?? 0);
  expect(sums.reduce((sum, value) => sum + value, 0)).toBe(3);
});
