/** A report that a page sent to an edge whose service is older, as in the minutes of an upgrade. */
import { expect, test } from 'vitest';
import type { RequestContext } from '../../../src/edge/decide/context.ts';
import type { Isolate } from '../../../src/edge/isolate/isolate.ts';
import { passTelemetry } from '../../../src/edge/protect/pass-telemetry.ts';
import { failed, ok } from '../../../src/result.ts';
import { factsOf } from './edge-fixture.ts';

/** The reports that a service got, which takes only these fields. */
async function asked(report: Record<string, unknown>, known: readonly string[]): Promise<Record<string, unknown>[]> {
  const reports: Record<string, unknown>[] = [];
  const service = {
    ask: async (_call: unknown, question: { report: Record<string, unknown> }) => {
      const given = JSON.parse(JSON.stringify(question.report)) as Record<string, unknown>;
      reports.push(given);
      const isKnown = Object.keys(given).every((name) => known.includes(name));
      return isKnown ? ok(true) : failed({ kind: 'visitor', status: 400, key: 'API.INVALID_BODY' });
    },
  };
  const headers = { cookie: 'protect_session=jti|a.b.c', 'content-type': 'application/json' };
  const request = new Request('https://site.test/', { method: 'POST', body: JSON.stringify(report), headers });
  const context = { facts: factsOf('/__protect/telemetry', { request }), verdict: { riskScore: null }, cookies: [] };
  await passTelemetry(context as unknown as RequestContext, { service, count: () => {} } as unknown as Isolate);
  return reports;
}

const hands = { presses: 1 };

test('reaches a service that knows its newer fields whole', async () => {
  const report = { v: 1, agent: true, hands };
  expect(await asked(report, ['v', 'agent', 'hands'])).toEqual([report]);
});

test('reaches a service that refuses its newer fields without them', async () => {
  expect(await asked({ v: 1, agent: true, hands }, ['v'])).toEqual([{ v: 1, agent: true, hands }, { v: 1 }]);
});

test('is not sent twice where it has no newer fields', async () => {
  expect(await asked({ v: 1, other: 1 }, ['v'])).toHaveLength(1);
});
