/** Verdicts of an edge whose clock is wrong: the service says its time, and the edge's sink corrects the records. */
import { expect, test } from 'vitest';
import { serviceSink } from '../../../src/logsink/sinks/service.ts';
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

test.each([
  ['ten minutes ahead', 10 * MINUTE_MS],
  ['a day behind', -24 * 60 * MINUTE_MS],
])('verdicts of an edge that is %s are stored by the clock of the service', async (_, offMs) => {
  const { token, instanceId, clientJwt } = await newGate(`clock${offMs < 0 ? '-behind' : ''}.example.org`);
  const calls: number[] = [];
  const sink = serviceSink({
    serviceUrl,
    clientJwt,
    clock: { nowMs: () => testNow() + offMs },
    async fetch(url, init) {
      const response = await send(url.slice(serviceUrl.length), init);
      calls.push(response.status);
      return response;
    },
  });
  const madeAt = testNow();
  const batches = [0, 1].map((no) =>
    sinkBatchOf(
      `batch-${no}`,
      [3000, 1000].map((agoMs) => verdictRecordOf(instanceId, { timestamp: madeAt + offMs - agoMs })),
    ),
  );
  for (const batch of batches) await sink.send(batch);
  // The repetition of a batch, as after an answer that was lost.
  await sink.send(batches[1]!);
  expect(calls).toEqual([409, 200, 200, 200]);
  const { body } = await call(token, '/protect/verdicts', {});
  const times = (body.verdicts as { timestamp: number }[]).map(({ timestamp }) => madeAt - timestamp);
  expect(times).toEqual([1000, 1000, 3000, 3000]);
  expect(await metrics(token)).not.toMatch(REFUSED);
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
