/** What each sink sends, and how it reads the response. */
import { describe, expect, test } from 'vitest';
import { verdictBatch, verdictMessage } from '../../../src/contract/edge/verdict-batch.ts';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../../src/logsink/event-id.ts';
import { ServiceClock } from '../../../src/logsink/service-clock.ts';
import type { SinkBatch } from '../../../src/logsink/sink.ts';
import { analyticsEngineSink } from '../../../src/logsink/sinks/analytics-engine.ts';
import { httpSink } from '../../../src/logsink/sinks/http.ts';
import { messagesOf } from '../../../src/logsink/sinks/queue.ts';
import { r2Sink } from '../../../src/logsink/sinks/r2.ts';
import { serviceSink } from '../../../src/logsink/sinks/service.ts';
import { expectRows } from '../../support/rows.ts';
import { sinkBatchOf, verdictRecordOf } from '../../support/verdict-record.ts';

const clock = new ServiceClock();
const timestamp = Date.UTC(2026, 10, 20, 12);

function batchOf(count: number, given: Partial<VerdictRecord> = {}): SinkBatch {
  const records = Array.from({ length: count }, () => verdictRecordOf('instance-1', { timestamp, ...given }));
  return { ...sinkBatchOf(newEventId(timestamp), records, { requests: 2 }), held: 3 };
}

/** Responds to every call with a status, and records the calls. */
function answering(status: number, body = '{}') {
  const calls: { url: string; init: RequestInit }[] = [];
  return {
    calls,
    fetch: async (url: string, init: RequestInit): Promise<Response> => {
      calls.push({ url, init });
      return new Response(body, { status });
    },
  };
}

describe('the service sink', () => {
  test('posts a batch that the contract accepts, with the client JWT', async () => {
    const { calls, fetch } = answering(200, '{"accepted":1,"duplicates":1,"rejected":[{"index":2,"reason":"late"}]}');
    const batch = batchOf(3);
    await serviceSink({ serviceUrl: 'https://service.example', clientJwt: 'jwt', fetch, clock }).send(batch);
    expect(calls[0]?.url).toBe('https://service.example/edge/v1/verdicts');
    expect(new Headers(calls[0]?.init.headers).get('authorization')).toBe('Bearer jwt');
    const sent = verdictBatch.parse(JSON.parse(calls[0]?.init.body as string));
    expect(sent).toEqual(batch);
  });

  test('tells transient statuses from final ones', () =>
    expectRows(
      [
        [500, true],
        [503, true],
        [429, true],
        [408, true],
        [400, false],
        [401, false],
        [302, false],
      ],
      async ([status, transient]) => {
        const sink = serviceSink({
          serviceUrl: 'https://s.example',
          clientJwt: 'j',
          fetch: answering(status).fetch,
          clock,
        });
        await expect(sink.send(batchOf(1))).rejects.toMatchObject({ name: 'SinkError', transient });
      },
    ));
});

test('the service sink takes a 200 with an unusable body for a failure that may pass', () =>
  expectRows(
    [
      ['nothing', ''],
      ['no JSON', '<html>'],
      ['no numbers', '{}'],
      ['fewer records than were sent', '{"accepted":1,"duplicates":0,"rejected":[]}'],
      ['more than an answer can have', `{"accepted":2,"duplicates":0,"rejected":[],"pad":"${'x'.repeat(70_000)}"}`],
    ],
    async ([, body]) => {
      const sink = serviceSink({
        serviceUrl: 'https://s.example',
        clientJwt: 'j',
        fetch: answering(200, body).fetch,
        clock,
      });
      await expect(sink.send(batchOf(2))).rejects.toMatchObject({ name: 'SinkError', transient: true });
    },
  ));

describe('the queue sink', () => {
  test('cuts a batch into parts of its range that each fit, keeps every id, and sends the counters once', () => {
    const batch = batchOf(100, { user_agent: 'ü'.repeat(1024), explain: 'e'.repeat(1024) });
    const messages = messagesOf(batch);
    expect(messages.length).toBeGreaterThan(1);
    for (const message of messages) {
      expect(new TextEncoder().encode(JSON.stringify(message)).length).toBeLessThan(128_000);
      expect(verdictMessage.parse(message).instanceId).toBe('instance-1');
    }
    const ids = messages.flatMap(({ records }) => records.map((record) => (record as VerdictRecord).id));
    expect(ids).toEqual(batch.records.map(({ id }) => id));
    expect(messages.map(({ counters }) => counters)).toEqual([{ requests: 2 }, ...messages.slice(1).map(() => ({}))]);
    expect(new Set(messages.map(({ batchId }) => batchId)).size).toBe(messages.length);
    expect(messages[0]?.batchId).toBe(batch.batchId);
    let next = batch.firstSeq;
    for (const { isolate, firstSeq, lastSeq = 0, held, records } of messages) {
      expect([isolate, firstSeq, lastSeq - next + 1]).toEqual([batch.isolate, next, records.length]);
      expect(held).toBe(batch.lastSeq - lastSeq + 3);
      next = lastSeq + 1;
    }
    expect(next).toBe(batch.lastSeq + 1);
  });
});

test('the http sink sends one JSON line per verdict and an idempotency key', async () => {
  const { calls, fetch } = answering(202);
  const batch = batchOf(2);
  await httpSink({ url: 'https://collector.example/in', headers: { authorization: 'Bearer x' }, fetch }).send(batch);
  const lines = ((calls[0]?.init.body ?? '') as string).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(batch.records);
  expect(new Headers(calls[0]?.init.headers).get('idempotency-key')).toBe(batch.batchId);
});

test('the r2 sink overwrites a retried batch', async () => {
  const objects = new Map<string, string>();
  const sink = r2Sink({
    async put(key, value) {
      objects.set(key, value);
    },
  });
  const batch = batchOf(2);
  await sink.send(batch);
  await sink.send(batch);
  expect([...objects.keys()]).toEqual([`verdicts/instance-1/2026-11-20/${batch.batchId}.ndjson`]);
});

test('the analytics engine sink stays within the limits of a point', async () => {
  const points: { indexes: string[]; blobs: (string | null)[]; doubles: number[] }[] = [];
  const sink = analyticsEngineSink({ writeDataPoint: (point) => points.push(point) });
  await sink.send(batchOf(1, { user_agent: 'u'.repeat(1024), request_path: `/${'p'.repeat(1023)}` }));
  const [point] = points;
  expect(point?.blobs.length).toBeLessThanOrEqual(20);
  expect(point?.doubles.length).toBeLessThanOrEqual(20);
  expect(point?.blobs.join('').length).toBeLessThan(16_384);
  await expect(sink.send(batchOf(251))).rejects.toMatchObject({ transient: false });
});
