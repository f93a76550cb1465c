/** Pages for scripts while the service is away: an edge's own counts go on alone. */
import { expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';
import { BUDGET, RESERVE, asCurl, many, passed } from './visits.ts';

const stack = useStack({ seedChanges: {}, schedule: false });

test('the budget holds while the service does not respond, and tools still get nothing', async () => {
  expect(
    await passed(
      stack(),
      many(5, () => ({ from: '192.0.2.1' })),
    ),
  ).toBe(5);
  await stack().stopService();
  expect(
    await passed(
      stack(),
      many(200, () => ({ from: '198.51.100.1' })),
    ),
  ).toBeLessThanOrEqual(BUDGET + RESERVE);
  expect(
    await passed(
      stack(),
      many(200, () => ({ from: '192.0.2.1' })),
    ),
  ).toBeLessThanOrEqual(BUDGET + RESERVE - 5);
  expect(
    await passed(
      stack(),
      many(50, () => ({ from: '203.0.113.1', headers: asCurl })),
    ),
  ).toBe(0);
});
