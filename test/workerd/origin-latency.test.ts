/** How long an origin took, from the log: the percentiles of all requests, beside those of a naive oracle. */
import { expect, test } from 'vitest';
import { seededRandom, verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call, newAccount } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

const MINUTE_MS = 60_000;

function naive(durations: readonly number[], share: number): number {
  return durations.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(durations.length * share)) - 1] as number;
}

test('the percentiles of each minute count every request that the origin responded to, and no other', async () => {
  const { token, jwt, id } = await newInstance();
  const random = seededRandom(7);
  const minute = Math.floor(testNow() / MINUTE_MS) - 10;
  const records = Array.from({ length: 400 }, (_, seq) => {
    // From a cached page to an origin that hangs; one in eight was never forwarded.
    const originMs = seq % 8 === 0 ? null : Math.floor(10 ** (random() * 4.5));
    return verdictRecordOf(id, {
      timestamp: (minute + (seq % 3)) * MINUTE_MS + seq,
      origin_ms: originMs,
      decision: originMs === null ? 'block' : 'allow',
      edge: { colo: 'FRA', version: '0.1.0', isolate: 'isolate-1', seq },
    });
  });
  expect((await sendVerdicts(jwt, 'batch-1', records)).status).toBe(200);
  const window = { since: minute * MINUTE_MS, until: (minute + 3) * MINUTE_MS, bucket: 60 };
  const { body } = await call(token, '/protect/origin-latency', window);
  expect(body).toMatchObject({ since: window.since, until: window.until, bucketSeconds: 60, requests: 350 });
  expect(body.buckets.map(({ timestamp }: { timestamp: number }) => timestamp)).toEqual(
    [0, 1, 2].map((at) => (minute + at) * MINUTE_MS),
  );
  for (const bucket of [body, ...body.buckets]) {
    const own = records.filter(
      ({ timestamp, origin_ms: ms }) =>
        ms !== null && (bucket === body || Math.floor(timestamp / MINUTE_MS) * MINUTE_MS === bucket.timestamp),
    );
    const durations = own.map(({ origin_ms: ms }) => ms as number);
    expect(bucket.requests).toBe(durations.length);
    for (const [name, share] of Object.entries({ p50: 0.5, p95: 0.95, p99: 0.99 })) {
      const real = naive(durations, share);
      expect(bucket[name]).toBeGreaterThanOrEqual(real);
      expect(bucket[name]).toBeLessThanOrEqual(real <= 32 ? real : real * (1 + 1 / 16));
    }
  }
});

test('a window without requests has no percentiles', async () => {
  const { token } = await newInstance();
  expect((await call(token, '/protect/origin-latency', {})).body).toMatchObject({
    requests: 0,
    p50: null,
    p95: null,
    p99: null,
    buckets: [],
  });
});

test('a window of too many buckets is refused', async () => {
  const { token } = await newInstance();
  const body = { since: testNow() - 30 * 86_400_000, bucket: 60 };
  expect((await call(token, '/protect/origin-latency', body)).status).toBe(400);
});

test('the requests of another account are not counted', async () => {
  const { siteKey } = await newInstance();
  const { token } = await newAccount();
  expect((await call(token, '/protect/origin-latency', { siteKey })).status).toBe(404);
});
