/** What follows an exception or a missing ruleset. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NO_BOTS } from '../../../src/edge/decide/bot-reader.ts';
import { unjudged } from '../../../src/edge/decide/context.ts';
import { stepWithoutRuleset } from '../../../src/edge/step/failure.ts';
import { handled } from '../../../src/edge/gate.ts';
import type { NextStep } from '../../../src/edge/gate.ts';
import type { Isolate } from '../../../src/edge/isolate/isolate.ts';
import { Origins } from '../../../src/edge/origin/origins.ts';
import { PageTexts } from '../../../src/edge/feed/page-texts.ts';
import { Clearances } from '../../../src/edge/session/clearances.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Limits } from '../../../src/edge/limits/limits.ts';
import { PendingBudget } from '../../../src/edge/pending/pending-budget.ts';
import { Sessions } from '../../../src/edge/session/check-session.ts';
import { BodyBudget } from '../../../src/edge/submission/body-budget.ts';
import { answerWith, forwardOn } from '../../../src/edge/step/step.ts';
import { englishPages } from '../../../src/locales/english-pages.generated.ts';
import { NOW_MS, configOf, factsOf } from './edge-fixture.ts';

const config = await configOf();
const ruleset = { version: 3, quietExplanation: '', match: () => ({ network: null, client: null, fired: [] }) };
let counted: string[] = [];
let records: unknown[] = [];
beforeEach(() => {
  counted = [];
  records = [];
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => void vi.restoreAllMocks());

const environment = (failMode: 'open' | 'closed' = 'open') => ({
  failMode,
  version: 'test',
  origin: { kind: 'url' as const, base: 'https://origin.test', resolveOverride: null },
});
const count = (name: string) => void counted.push(name);

function requestTo(path: string, next: NextStep, state: object = { config, ruleset }): Promise<Response> {
  const counts = new LimitCounts({ report: null, now: () => NOW_MS, sleep: async () => {}, count });
  const isolate = {
    environment: environment(),
    origins: new Origins(environment() as never, count),
    instanceId: 'inst_1',
    feed: { state, ready: () => null },
    bots: NO_BOTS,
    sessions: new Sessions(() => false),
    clearances: new Clearances(null),
    pending: new PendingBudget(counts),
    limits: new Limits({ counts, takes: null, count, now: () => NOW_MS }),
    bodies: new BodyBudget(count),
    pageTexts: new PageTexts({ en: englishPages }, null, () => NOW_MS),
    log: { isolateId: 'i', nextSeq: () => 0, add: (record: unknown) => void records.push(record) },
    count,
  };
  return handled(next)(factsOf(path), isolate as unknown as Isolate, { waitUntil: () => undefined });
}
const failing: NextStep = () => {
  throw new Error('ours');
};

test('with a ruleset an exception becomes a challenge, counted and recorded', async () => {
  const response = await requestTo('/crafted', failing);
  expect([response.status, response.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  expect(records).toMatchObject([{ decision: 'challenge', source: 'error', status: 403 }]);
  expect(counted).toContain('exceptions');
  expect(await response.text()).not.toContain('ours');
});

test('an exception while the path is read becomes a challenge too', async () => {
  const broken = { ...config, pathPolicy: () => failing(null as never, null as never, () => undefined) };
  const response = await requestTo('/crafted', forwardOn as never, { config: broken, ruleset });
  expect([response.status, records.length]).toEqual([403, 1]);
});

test('an exception while making the response becomes a bare 403', async () => {
  const broken = { ...config, policy: { ...config.policy, branding: { logoUrl: 'https://[' } } };
  const response = await requestTo('/', failing, { config: broken, ruleset });
  expect([response.status, response.headers.get('x-protect-decision')]).toEqual([403, 'block']);
  expect(records).toMatchObject([{ decision: 'block', source: 'error', status: 403 }]);
});

test('an exception after the origin was called returns 502 and does not call it again', async () => {
  const origin = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
    // A response whose headers cannot be read fails while it is passed on.
    return new Proxy(new Response('ok'), {
      get: (target, name) =>
        name === 'headers' ? failing(null as never, null as never, () => undefined) : Reflect.get(target, name),
    });
  });
  const response = await requestTo('/order', (context) => forwardOn(context));
  expect(response.status).toBe(502);
  expect(records).toMatchObject([{ status: 502, origin_ms: expect.any(Number) }]);
  expect(origin).toHaveBeenCalledTimes(1);
  expect(counted).toContain('exceptions');
});

test.each(['challenge', 'block'] as const)('onError %s replaces a missing ruleset', async (onError) => {
  const strict = await configOf({ enforcementPolicy: { html: { onError } } });
  const step = stepWithoutRuleset(unjudged(factsOf(), { config: strict }), { environment: environment(), count });
  expect(step).toMatchObject({
    kind: 'answer',
    answer: { kind: onError },
    context: { verdict: { decision: onError } },
  });
});

test('FAIL_MODE open forwards without a ruleset', () => {
  const step = stepWithoutRuleset(unjudged(factsOf()), { environment: environment(), count });
  expect(step).toMatchObject({ kind: 'forward', context: { verdict: { decision: 'allow', source: 'error' } } });
});

test('FAIL_MODE closed responds 503 whatever onError is', async () => {
  const open = await configOf({ enforcementPolicy: { html: { onError: 'allow' } } });
  const step = stepWithoutRuleset(unjudged(factsOf(), { config: open }), { environment: environment('closed'), count });
  expect(step).toMatchObject({ kind: 'answer', answer: { kind: 'message', key: 'API.UNAVAILABLE' } });
});

test('an endpoint of the edge never reaches the origin, even after an exception without a ruleset', async () => {
  const origin = vi.spyOn(globalThis, 'fetch');
  const response = await requestTo('/__protect/session', failing, { config, ruleset: null });
  expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json; charset=utf-8']);
  expect(origin).not.toHaveBeenCalled();
});

test('a clearance that learned a second network travels with the origin’s response only', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('ok'));
  const learnedCookie = async () => 'learned=1';
  const forwarded = await requestTo('/', (context) => forwardOn({ ...context, learnedCookie }));
  expect(forwarded.headers.getSetCookie()).toEqual(['learned=1']);
  const blocked = await requestTo('/', (context) => answerWith({ ...context, learnedCookie }, { kind: 'block' }));
  expect(blocked.headers.getSetCookie()).toEqual([]);
});
