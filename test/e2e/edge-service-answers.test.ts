/**
 * What the service answers, or something in front of it, where that is no answer: nothing is lost, nothing is believed,
 * and no visitor reads it. Nothing is taken for a visitor that is none.
 */
import { describe, expect, test } from 'vitest';
import type { ChallengeResponse } from '../../src/contract/captcha/challenge-api.ts';
import { eventually } from '../support/stack.ts';
import { CHALLENGED, ask, postJson, startEdge, upstream, useFailingNeighbours } from './edge-under-test.ts';
import { OPERATORS_TEXT } from './edge-upstream.ts';

useFailingNeighbours();

describe('verdicts', () => {
  test.each(['garbage', 'empty', 'refused'] as const)(
    'that the service answers with %s are queued and counted, never taken for stored',
    async (trouble) => {
      const url = await startEdge({}, { queues: ['VERDICT_QUEUE'] });
      upstream.trouble = trouble;
      upstream.calls.length = 0;
      // One record, so that its batch is the only one: the queue here keeps nothing, also not what a batch counts.
      await ask(`${url}/kept/0`);
      await eventually(
        () => Promise.resolve(upstream.calls.filter((path) => path === '/edge/v1/verdicts').length),
        (attempts) => attempts > 0,
      );
      upstream.trouble = 'none';
      await eventually(
        async () => {
          await ask(`${url}/later`);
          const arrived = upstream.records.filter(({ request_path: path }) => path.startsWith('/kept/')).length;
          return arrived + (upstream.counters['verdicts_queued'] ?? 0);
        },
        (kept) => kept >= 1,
      );
    },
  );

  test('that the service answers with garbage are counted as dropped where there is no queue', async () => {
    const url = await startEdge();
    upstream.trouble = 'garbage';
    for (let visit = 0; visit < 20; visit++) await ask(`${url}/kept/${visit}`);
    await eventually(
      () => Promise.resolve(upstream.calls.filter((path) => path === '/edge/v1/verdicts').length),
      (attempts) => attempts >= 3,
    );
    upstream.trouble = 'none';
    await eventually(
      async () => {
        await ask(`${url}/later`);
        const arrived = upstream.records.filter(({ request_path: path }) => path.startsWith('/kept/')).length;
        return arrived + (upstream.counters['verdicts_dropped{reason="service-failed"}'] ?? 0);
      },
      (known) => known >= 20,
    );
  });
});

describe('a challenge', () => {
  test.each(['refused', 'forbidden', 'missing', 'limited', 'empty', 'garbage'] as const)(
    'is issued by the edge when the service answers its calls with %s, which no visitor reads',
    async (trouble) => {
      const url = await startEdge();
      upstream.trouble = trouble;
      const { answer, body } = await postJson<ChallengeResponse>(url, '/__protect/challenge', { action: 'clearance' });
      expect([answer.status, body.pow?.lane]).toEqual([200, 'sha256']);
      for (const [path, asked] of [
        ['challenge', { action: 'form' }],
        ['solution', { challenge: 'of the service', solution: {} }],
        ['telemetry', {}],
      ] as const) {
        const session = `protect_session=jti-1|${await upstream.mintSession()}`;
        const other = await postJson<object>(url, `/__protect/${path}`, asked, { ...CHALLENGED, cookie: session });
        expect(other.answer.status).toBe(path === 'telemetry' ? 202 : 503);
        expect(JSON.stringify(other.body)).not.toContain(OPERATORS_TEXT);
      }
    },
  );

  test('is not issued by the edge for what a visitor can cause: the refusal is passed on in the edge’s words', async () => {
    const url = await startEdge();
    for (const [code, key] of [
      [400, 'API.INVALID_BODY'],
      [403, 'API.ACCESS_POLICY_BLOCK'],
      [413, 'API.BODY_TOO_LARGE'],
      [429, 'API.RATE_LIMITED'],
    ] as const) {
      upstream.challengeRefusal = { code, key };
      const { answer, body } = await postJson<object>(url, '/__protect/challenge', { action: 'clearance' });
      expect([answer.status, body]).toEqual([code, { error: { code, key, message: 'This call was refused.' } }]);
    }
  });
});

test('a call of the gate’s own endpoints is no visitor’s, also before the first rules', async () => {
  upstream.trouble = 'error';
  const url = await startEdge({}, { waitForRules: false });
  expect((await ask(`${url}/__protect/health`)).status).toBe(200);
  upstream.trouble = 'none';
  const record = await eventually(
    async () => upstream.records.find((one) => one.request_path === '/__protect/health'),
    (found) => found !== undefined,
  );
  expect(record).toMatchObject({ source: 'internal', decision: 'allow', decided_by: 'default' });
  expect(record).not.toHaveProperty('inputs');
});
