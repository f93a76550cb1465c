/** Failure policies as values (design 8): what an exception and a missing ruleset lead to. */
import { expect, test, vi } from 'vitest';
import type { Edge } from '../../../src/edge/isolate/edge.ts';
import { answerAfterFailure, answerWithoutRuleset } from '../../../src/edge/failure.ts';
import { configOf, passageOf } from './edge-fixture.ts';

const config = await configOf();
const counted: string[] = [];
const edgeOf = (hasRuleset: boolean, failMode: 'open' | 'closed' = 'open') =>
  ({
    environment: {
      failMode,
      origin: { kind: 'url', base: 'https://origin.test', resolveOverride: null },
    },
    feed: { state: { config: hasRuleset ? config : null, ruleset: hasRuleset ? {} : null } },
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

test('however early it comes', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const passage = await passageOf('/crafted', {}, { config: null, path: null, signals: null });
  expect((await answerAfterFailure(passage, edgeOf(true), new Error('ours'))).status).toBe(403);
});

test('and even where the answer fails too', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const broken = { ...config, policy: { ...config.policy, branding: { logoUrl: 'https://[' } } };
  const edge = { ...edgeOf(true), feed: { state: { config: broken, ruleset: {} } } } as unknown as Edge;
  const answer = await answerAfterFailure(await passageOf('/'), edge, new Error('ours'));
  expect([answer.status, answer.headers.get('x-protect-decision')]).toEqual([403, 'block']);
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
