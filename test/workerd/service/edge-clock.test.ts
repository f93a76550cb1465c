/** Verdicts of an edge whose clock is wrong: the service says its time, and every sink gets corrected records. */
import { describe, expect, test } from 'vitest';
import { ServiceClient } from '../../../src/edge/feed/service-client.ts';
import { ServiceClock } from '../../../src/logsink/service-clock.ts';
import type { SinkBatch } from '../../../src/logsink/sink.ts';
import { serviceSink } from '../../../src/logsink/sinks/service.ts';
import { VerdictBatcher } from '../../../src/logsink/verdict-batcher.ts';
import { testNow } from '../../support/clock.ts';
import { sinkBatchOf, verdictRecordOf } from '../../support/verdict-record.ts';
import { call, newAccount, send, serviceUrl } from './service-under-test.ts';

const MINUTE_MS = 60_000;
const REFUSED = /verdicts_(rejected|conflicting)[^\n]* [1-9]/;

async function newGate(cname: string) {
  const { token, site } = await newAccount();
  const gate = { name: 'Gate', cname, globalSiteKey: site.siteKey };
  const { body } = await call(token, '/protect/instances/create', gate);
  const expiry = { protectInstanceId: body.id, expiresInWeeks: 1 };
  const { body: issued } = await call(token, '/protect/client-jwt/generate', expiry);
  return { token, instanceId: body.id as string, clientJwt: issued.clientJwt as string };
}

/** An edge with a clock of its own and two sinks: the service, and another one. */
function newEdge(instanceId: string, clientJwt: string, offMs: number) {
  const nowMs = (): number => testNow() + offMs;
  const clock = new ServiceClock({ nowMs });
  const calls: number[] = [];
  const others: SinkBatch[] = [];
  const log = new VerdictBatcher({
    isolateId: 'isolate-1',
    clock: { nowMs, sleep: () => Promise.resolve() },
    serviceClock: clock,
    sinks: [
      serviceSink({
        serviceUrl,
        clientJwt,
        clock,
        async fetch(url, init) {
          const response = await send(url.slice(serviceUrl.length), init);
          calls.push(response.status);
          return response;
        },
      }),
      { name: 'other', send: async (batch) => void others.push(batch) },
    ],
  });
  const service = { fetch: (request: Request) => send(request.url.slice(serviceUrl.length), request) };
  const client = new ServiceClient({ serviceUrl, service, clientJwt, count: () => undefined, clock });
  return {
    calls,
    poll: () => client.version(),
    /** Sends a record of now by this clock. Returns what time it is, once the record has arrived. */
    async log(): Promise<number> {
      const work: Promise<unknown>[] = [];
      const madeAt = testNow();
      const edge = { colo: 'FRA', version: '0.1.0', isolate: 'isolate-1', seq: log.nextSeq() };
      log.add(verdictRecordOf(instanceId, { timestamp: nowMs(), edge }), (promise) => work.push(promise));
      await Promise.all(work);
      return madeAt;
    },
    timesAtTheOther: () => others.flatMap(({ records }) => records.map(({ timestamp }) => timestamp)),
  };
}

describe.each([
  ['ten minutes ahead', 10 * MINUTE_MS],
  ['a day behind', -24 * 60 * MINUTE_MS],
])('verdicts of an edge that is %s', (_, offMs) => {
  const cname = (name: string): string => `${name}${offMs < 0 ? '-behind' : ''}.example.org`;
  const timesInTheLog = async (token: string): Promise<number[]> => {
    const { body } = await call(token, '/protect/verdicts', {});
    return (body.verdicts as { timestamp: number }[]).map(({ timestamp }) => timestamp);
  };

  test('have the time of the service in every sink, once the edge has polled', async () => {
    const { token, instanceId, clientJwt } = await newGate(cname('polled'));
    const edge = newEdge(instanceId, clientJwt, offMs);
    expect((await edge.poll()).ok).toBe(true);
    const madeAt = await edge.log();
    expect(edge.calls).toEqual([200]);
    expect([await timesInTheLog(token), edge.timesAtTheOther()]).toEqual([[madeAt], [madeAt]]);
    expect(await metrics(token)).not.toMatch(REFUSED);
  });

  test('are sent again by the clock of the service where it says so first', async () => {
    const { token, instanceId, clientJwt } = await newGate(cname('told'));
    const edge = newEdge(instanceId, clientJwt, offMs);
    const first = await edge.log();
    const second = await edge.log();
    expect(edge.calls).toEqual([409, 200, 200]);
    expect(await timesInTheLog(token)).toEqual([second, first]);
    expect(await metrics(token)).not.toMatch(REFUSED);
  });
});

test('a clock that the log accepts is left as it is', async () => {
  const { instanceId, clientJwt } = await newGate('near.example.org');
  const edge = newEdge(instanceId, clientJwt, MINUTE_MS);
  await edge.poll();
  const madeAt = await edge.log();
  expect(edge.timesAtTheOther()).toEqual([madeAt + MINUTE_MS]);
});

test('a batch that does not say when it was sent is judged record by record', async () => {
  const { token, instanceId, clientJwt } = await newGate('clock-unsaid.example.org');
  const record = verdictRecordOf(instanceId, { timestamp: testNow() + 10 * MINUTE_MS });
  const { body } = await call(clientJwt, '/edge/v1/verdicts', sinkBatchOf('batch', [record]));
  expect(body.rejected).toEqual([{ index: 0, reason: 'timestamp-in-future' }]);
  expect(await metrics(token)).toMatch(REFUSED);
});

async function metrics(token: string): Promise<string> {
  return (await send('/protect/metrics', { headers: { authorization: `Bearer ${token}` } })).text();
}
