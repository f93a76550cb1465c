/** The ledger of held submissions: a seal is spent once per instance, within its life. */
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { spendSeal } from '../../../src/service/edge-api/spent-once.ts';
import { testNow } from '../../support/clock.ts';

const NOW = testNow();
async function spend(id: string, bornAt: number, instanceId = 'inst_1'): Promise<boolean> {
  const request = new Request('https://gatehouse.test/edge/v1/seals/spend', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, bornAt }),
  });
  const waitUntil = (): void => undefined;
  const call = { store: env, instance: { id: instanceId }, request, nowMs: NOW, waitUntil } as never;
  const answer = await spendSeal.handler(call, {});
  return (await answer.json<{ spent: boolean }>()).spent;
}

test('one of twenty parallel calls spends a seal, and each instance has its own seals', async () => {
  const id = crypto.randomUUID();
  const answers = await Promise.all(Array.from({ length: 20 }, () => spend(id, NOW - 1000)));
  expect(answers.filter(Boolean)).toHaveLength(1);
  expect(await spend(id, NOW - 1000, 'inst_2')).toBe(true);
});

test.each([
  ['born in the future', NOW + 3_600_000],
  ['older than a seal can be', NOW - 3_600_000],
])('a seal %s is never spent', async (_, bornAt) => {
  expect(await spend(crypto.randomUUID(), bornAt)).toBe(false);
});
