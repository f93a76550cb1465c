/** The ledger of clearances in a second network: one network for each, whichever isolate asks, within its life. */
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { testNow } from '../../support/clock.ts';
import { learnNetwork } from '../../../src/service/edge-api/spent-once.ts';

const NOW = testNow();
const network = (index: number) => String(index).padStart(22, 'n');

async function learn(jti: string, asked: string, bornAt = NOW - 1000, instanceId = 'inst_1'): Promise<string | null> {
  const request = new Request('https://gatehouse.test/edge/v1/clearances/learn', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jti, bornAt, network: asked }),
  });
  const waitUntil = (): void => undefined;
  const call = { store: env, instance: { id: instanceId }, request, nowMs: NOW, waitUntil } as never;
  const answer = await learnNetwork.handler(call, {});
  return (await answer.json<{ network: string | null }>()).network;
}

test('twenty parallel calls of many networks learn the same one, and each instance has its own', async () => {
  const jti = crypto.randomUUID();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => learn(jti, network(index))));
  expect(new Set(answers).size).toBe(1);
  expect(await learn(jti, network(99))).toBe(answers[0]);
  expect(await learn(jti, network(99), NOW - 1000, 'inst_2')).toBe(network(99));
});

test.each([
  ['from the future', NOW + 3_600_000],
  ['that is older than the ledger remembers', NOW - 3_600_000],
])('a clearance %s learns nothing', async (_, bornAt) => {
  expect(await learn(crypto.randomUUID(), network(1), bornAt)).toBeNull();
});
