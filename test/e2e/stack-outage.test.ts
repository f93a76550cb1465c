/** While the service is away verdicts wait in the queue (design 7, 8); when it is back each is there, once. */
import { expect, test } from 'vitest';
import { eventually, manage, useStack } from '../support/stack.ts';

const REQUESTS = 40;
/** Queue batches every five seconds, a retry every two, and the edge's own retries before. */
const DELIVERED_WITHIN_MS = 25_000;

const stack = useStack();

test('verdicts of an outage arrive afterwards, every one once, and visitors notice nothing', async () => {
  await fetch(`${stack().edgeUrl}/echo/before`);
  await stack().stopService();
  for (let n = 0; n < REQUESTS; n += 1) {
    const response = await fetch(`${stack().edgeUrl}/echo/outage`);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  await stack().startService();
  const ask = () =>
    manage<{ total: number; verdicts: { id: string }[] }>(stack(), '/protect/verdicts', {
      requestPath: '/echo/outage',
      limit: 100,
    });
  const { verdicts } = await eventually(ask, ({ total }) => total >= REQUESTS, DELIVERED_WITHIN_MS);
  expect(new Set(verdicts.map(({ id }) => id)).size).toBe(REQUESTS);
  expect(verdicts).toHaveLength(REQUESTS);
});
