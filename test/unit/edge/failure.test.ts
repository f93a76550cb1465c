/** Failure policies as values (design 8): what an exception and a missing ruleset lead to. */
import { expect, test, vi } from 'vitest';
import type { Edge } from '../../../src/edge/edge.ts';
import { answerAfterFailure, answerWithoutRuleset } from '../../../src/edge/failure.ts';
import { passageOf } from './edge-fixture.ts';

const counted: string[] = [];
const edgeOf = (hasRuleset: boolean, failMode: 'open' | 'closed' = 'open') =>
  ({
    environment: {
      failMode,
      origin: { kind: 'url', base: 'https://origin.test', host: 'origin.test', resolveOverride: null },
    },
    feed: { state: { ruleset: hasRuleset ? {} : null } },
    count: (name: string) => void counted.push(name),
  }) as unknown as Edge;

test('an exception while a ruleset is loaded is a challenge, counted', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const passage = await passageOf('/crafted');
  const answer = await answerAfterFailure(passage, edgeOf(true), new Error('ours'));
  expect([answer.status, answer.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  expect(passage.verdict).toMatchObject({ decision: 'challenge', source: 'error' });
  expect(counted).toContain('exceptions');
  expect(await answer.text()).not.toContain('ours');
});

test('after the origin was called it is not called again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const calls = vi.spyOn(globalThis, 'fetch');
  const passage = await passageOf('/order', {}, { originCalled: true });
  const answer = await answerAfterFailure(passage, edgeOf(true), new Error('ours'));
  expect(answer.status).toBe(502);
  expect(calls).not.toHaveBeenCalled();
});

test.each([
  ['challenge', 403],
  ['block', 403],
] as const)('onError %s stands in for a missing ruleset', async (onError, status) => {
  const passage = await passageOf('/', { enforcementPolicy: { html: { onError } } });
  const answer = await answerWithoutRuleset(passage, edgeOf(false));
  expect([answer.status, passage.verdict?.decision]).toEqual([status, onError]);
});

test('closed is 503 whatever onError says', async () => {
  const passage = await passageOf('/');
  expect((await answerWithoutRuleset(passage, edgeOf(false, 'closed'))).status).toBe(503);
});
