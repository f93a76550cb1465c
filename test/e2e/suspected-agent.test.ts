/**
 * A visitor whose page shows an assistant at work, over HTTP: a behaviour of the log, its filters and counts, a condition
 * of policies, and an action of the bot policy. Other visitors of the same network notice nothing.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { TelemetryReport } from '../../src/contract/edge/page-reports.ts';
import { browse } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { personsHeaders } from '../support/session.ts';
import { edgeIsUpToDate, manage, useStack } from '../support/stack.ts';
import { reportOf } from '../unit/risk/session-facts.ts';
import { botVisits, type Logged, type Visit } from './bot-visits.ts';
import { signalsOf } from './edge-visitor.ts';

const stack = useStack();
const { visit, logged, policy } = botVisits(stack);

async function visitor(from: string, report: Partial<TelemetryReport>): Promise<Visit> {
  const headers = { ...personsHeaders, ...signalsOf(stack(), { from }) };
  const cookie = await sessionCookieAt(stack().edgeUrl, headers);
  const sent = await browse(`${stack().edgeUrl}/__protect/telemetry`, {
    method: 'POST',
    headers: { ...headers, cookie, 'content-type': 'application/json' },
    body: JSON.stringify(reportOf({ elapsedMs: 900, visibleMs: 900, firstInteractionMs: 300, ...report })),
  });
  expect(sent.status).toBe(202);
  return { from, agent: personsHeaders['user-agent'], headers: { ...personsHeaders, cookie } };
}

let agent: Visit;
let person: Visit;
beforeAll(async () => {
  await policy({ ignoredDetectors: [] });
  agent = await visitor('10.31.0.1', { presses: 1, agent: true });
  person = await visitor('10.31.0.2', { presses: 1 });
  // The edge learns of it with its next poll, not with the next JWT of the session.
  await edgeIsUpToDate(stack());
});

const suspected = { id: 'suspected-agent', behaviours: ['suspected-agent'], proof: 'suspected' };

test('is a bot of the log, and neither its risk nor what it gets is another', async () => {
  const { id, status } = await visit(agent, '/echo/agent');
  expect(status).toBe(200);
  const ofPerson = (await logged((await visit(person, '/echo/agent')).id)) as Logged & { risk_score: number };
  expect(ofPerson).toMatchObject({ bot: null, decision: 'allow' });
  const { risk_score: risk } = ofPerson;
  expect(await logged(id)).toMatchObject({ bot: suspected, decision: 'allow', risk_score: risk });
});

test('is found by the filters, and counted', async () => {
  const { id } = await visit(agent, '/echo/found');
  await logged(id);
  await logged((await visit(person, '/echo/found')).id);
  for (const filter of [{ bot: 'suspected-agent' }, { proof: 'suspected' }, { firedRules: 'risk:suspected-agent' }]) {
    const query = { ...filter, requestPath: '/echo/found' };
    const { verdicts } = await manage<{ verdicts: { request_id: string }[] }>(stack(), '/protect/verdicts', query);
    expect(verdicts.map(({ request_id: found }) => found)).toEqual([id]);
  }
  const { bots } = await manage<{ bots: object[] }>(stack(), '/protect/bots/traffic', {});
  const row = { id: 'suspected-agent', behaviours: ['suspected-agent'], proofs: { suspected: expect.any(Number) } };
  expect(bots).toContainEqual(expect.objectContaining({ ...row, proofs: expect.objectContaining(row.proofs) }));
});

describe('a policy', () => {
  const set = async (when: string): Promise<void> => {
    await manage(stack(), '/protect/policies/set', {
      policies: [{ name: 'of-agents', when, then: { action: 'block' } }],
    });
    await edgeIsUpToDate(stack());
  };

  test('with the condition that the agent is suspected meets nobody else', async () => {
    await set('agent equals "suspected" and path startsWith "/echo/checkout"');
    expect((await visit(agent, '/echo/checkout')).status).toBe(403);
    expect((await visit(agent, '/echo')).status).toBe(200);
    expect((await visit(person, '/echo/checkout')).status).toBe(200);
    const { policies } = await manage<{ policies: object[] }>(stack(), '/protect/policies/test', {
      request: { url: 'https://shop.example/echo/checkout', bot: { id: 'suspected-agent', proof: 'suspected' } },
    });
    expect(policies).toEqual([expect.objectContaining({ name: 'of-agents', applies: 'yes' })]);
  });

  test('for bots does not meet a visitor who names none', async () => {
    await set('bot exists');
    const { id } = await visit(agent, '/echo');
    expect(await logged(id)).toMatchObject({ bot: suspected, decision: 'allow' });
    await set('path equals "/nowhere"');
  });
});

test('gets what the bot policy says of suspected agents, which by default is nothing', async () => {
  await policy({ botPolicy: { preset: 'closed' } });
  expect((await visit(agent, '/echo')).status).toBe(200);
  await policy({ botPolicy: { behaviours: { 'suspected-agent': 'block' } } });
  const refused = await visit(agent, '/echo');
  expect(refused.status).toBe(403);
  expect(await logged(refused.id)).toMatchObject({ source: 'bot', decided_by: 'bot:suspected-agent' });
  expect((await visit(person, '/echo')).status).toBe(200);
});
