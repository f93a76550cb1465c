/** While the service is down, verdicts wait in the queue. When it is back, each one arrives once. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const REQUESTS = 40;

const stack = useStack();

test('verdicts of an outage arrive once each afterwards, and visitors notice nothing', async () => {
  await browse(`${stack().edgeUrl}/echo/before`);
  await stack().stopService();
  for (let n = 0; n < REQUESTS; n += 1) {
    const response = await browse(`${stack().edgeUrl}/echo/outage`);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  await stack().startService();
  const ask = () =>
    manage<{ total: number; verdicts: { id: string }[] }>(stack(), '/protect/verdicts', {
      requestPath: '/echo/outage',
      limit: 100,
    });
  const { verdicts } = await eventually(ask, ({ total }) => total >= REQUESTS);
  expect(new Set(verdicts.map(({ id }) => id)).size).toBe(REQUESTS);
  expect(verdicts).toHaveLength(REQUESTS);
});
