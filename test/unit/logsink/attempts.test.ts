/** How often a delivery is repeated, how long it waits, and what is final. */
import { describe, expect, test } from 'vitest';
import { SinkError, deliverWithRetries } from '../../../src/logsink/sink.ts';

/** Fails as often as there are errors, then succeeds. */
async function deliverAfter(errors: readonly Error[]) {
  const slept: number[] = [];
  const failures: unknown[] = [];
  const clock = {
    nowMs: () => 0,
    sleep: async (ms: number): Promise<void> => {
      slept.push(ms);
    },
  };
  let attempts = 0;
  const isDelivered = await deliverWithRetries(
    async () => {
      const error = errors[attempts++];
      if (error) throw error;
    },
    clock,
    (error) => failures.push(error),
  );
  return { isDelivered, attempts, slept, failures };
}

const transient = new SinkError('503', true);
const refused = new SinkError('401', false);
const unknown = new Error('connection lost');

describe('a delivery', () => {
  test.each([
    ['that succeeds is not repeated', [], { isDelivered: true, attempts: 1 }],
    ['that fails for a moment is repeated', [transient], { isDelivered: true, attempts: 2 }],
    ['that fails in an unknown way is repeated', [unknown, unknown], { isDelivered: true, attempts: 3 }],
    ['is tried three times', [transient, transient, transient], { isDelivered: false, attempts: 3 }],
    ['that is refused is not repeated', [refused], { isDelivered: false, attempts: 1 }],
  ])('%s', async (_, errors, expected) => {
    const { failures, ...outcome } = await deliverAfter(errors);
    expect(outcome).toMatchObject(expected);
    expect(failures).toEqual(errors);
  });

  test('waits about twice as long before each attempt', async () => {
    const { slept } = await deliverAfter([transient, transient, transient]);
    expect(slept).toHaveLength(2);
    for (const [index, baseMs] of [200, 400].entries()) {
      expect(slept[index]).toBeGreaterThanOrEqual(baseMs / 2);
      expect(slept[index]).toBeLessThan(baseMs * 1.5);
    }
  });
});
