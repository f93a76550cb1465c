/** Why one logged request was decided as it was, from its reference. */
import { expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictExplanationResponse } from '../../src/contract/management/verdict-explanation.ts';
import { decide, type DecideInputs } from '../../src/rules/decision-table.ts';
import { recordInputsOf } from '../../src/rules/record-inputs.ts';
import type { MatchedRule } from '../../src/rules/types.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

const none: DecideInputs = {
  network: null,
  client: null,
  bot: null,
  category: null,
  risk: null,
  limit: null,
  policy: null,
};
const rule = (id: string, verdict: MatchedRule['verdict'], mode: MatchedRule['mode'] = 'enforce'): MatchedRule => ({
  id,
  type: id.slice(0, id.indexOf(':')) as MatchedRule['type'],
  verdict,
  mode,
});

type Instance = Awaited<ReturnType<typeof newInstance>>;

/** Logs a request that the edge decided from these inputs, and returns what the service says about it. */
async function explained(
  instance: Instance,
  inputs: Partial<DecideInputs>,
  fired: readonly MatchedRule[] = [],
  given: Partial<VerdictRecord> = {},
) {
  const table = { ...none, ...inputs };
  const outcome = decide(table);
  const record = verdictRecordOf(instance.id, {
    timestamp: testNow() - 5000,
    decision: outcome.decision,
    decided_by: outcome.decidedBy,
    inputs: recordInputsOf(table),
    fired_rules: fired.map(({ id, verdict, mode }) => ({ id, verdict, mode })),
    risk_score: table.risk?.score ?? null,
    source: 'access-rule',
    ...given,
  });
  await sendVerdicts(instance.jwt, record.id, [{ ...record, request_id: record.id }]);
  const { status, body, response } = await call(instance.token, '/protect/verdicts/explain', { requestId: record.id });
  expect(status, JSON.stringify(body)).toBe(200);
  return { ...verdictExplanationResponse.parse(body), siteKey: response.headers.get('x-protect-site-key') };
}

const rows = ({ table }: { table: { input: string; verdict: unknown; outcome: string; liftedBy: unknown }[] }) =>
  table.map(({ input, verdict, outcome, liftedBy }) => [input, verdict, outcome, liftedBy]);

test('the table says what each input said, what decided, what was overruled, and what would have happened without it', async () => {
  const instance = await newInstance();
  await instance.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'challenge', note: 'odd' }] });
  const address = rule('ip:192.0.2.1', 'challenge');
  const network = rule('ipMask:192.0.2.0/24', 'allow');
  const agent = rule('userAgent:bot', 'block');
  const told = await explained(
    instance,
    {
      network: address,
      client: agent,
      risk: { verdict: 'challenge', score: 0.6 },
      policy: { verdict: 'allow', reason: 'path:/x' },
    },
    [address, network, agent, rule('asn:64496', 'block', 'monitor')],
    {
      fired_rules: [
        address,
        network,
        agent,
        rule('asn:64496', 'block', 'monitor'),
        rule('risk:webdriver', 'challenge'),
      ].map(({ type: _type, ...one }) => one),
    },
  );
  expect(rows(told)).toEqual([
    ['network', 'challenge', 'overruled', null],
    ['client', 'block', 'decided', null],
    ['bot', null, 'silent', null],
    ['category', null, 'silent', null],
    ['risk', 'challenge', 'overruled', null],
    ['limit', null, 'silent', null],
    ['policy', 'allow', 'overruled', null],
  ]);
  expect(told.table.map(({ by }) => by)).toEqual([
    'ip:192.0.2.1',
    'userAgent:bot',
    null,
    null,
    'risk:challenge',
    null,
    'policy:path:/x',
  ]);
  expect(told.without).toEqual({ by: 'userAgent:bot', decision: 'challenge', decidedBy: 'ip:192.0.2.1' });
  expect(told).toMatchObject({
    tableDecision: 'block',
    laterStep: null,
    isEnforced: true,
    isExact: true,
    currentRulesetVersion: 1,
  });
  expect(told.rules.map(({ id, now }) => [id, now?.note])).toEqual([
    ['ip:192.0.2.1', 'odd'],
    ['ipMask:192.0.2.0/24', undefined],
    ['userAgent:bot', undefined],
    ['asn:64496', undefined],
  ]);
  expect(told.riskParts).toEqual([
    { detector: 'webdriver', weight: expect.any(Number), says: 'The browser sets navigator.webdriver.' },
  ]);
  expect(told.siteKey).toBe(instance.siteKey);
});

test('a limit that the request was above is an input, and one that is only monitored is not', async () => {
  const limit = { verdict: 'block', name: 'login' } as const;
  const told = await explained(await newInstance(), { limit, policy: { verdict: 'allow', reason: 'onPending' } }, [], {
    source: 'limit',
    fired_rules: [
      { id: 'limit:api', verdict: 'block', mode: 'monitor' },
      { id: 'limit:login', verdict: 'block', mode: 'enforce' },
    ],
  });
  expect(rows(told).slice(4)).toEqual([
    ['risk', null, 'silent', null],
    ['limit', 'block', 'decided', null],
    ['policy', 'allow', 'overruled', null],
  ]);
  expect(told.without).toEqual({ by: 'limit:login', decision: 'allow', decidedBy: 'policy:onPending' });
  expect(told.rules).toEqual([]);
});

test('a proved bot that the policy allows lifts category and path policy, and the log keeps who it is', async () => {
  const bot = { id: 'examplebot', behaviours: ['search' as const], proof: 'range' as const };
  const told = await explained(
    await newInstance(),
    {
      bot: { verdict: 'allow', id: bot.id, proof: bot.proof },
      category: { verdict: 'challenge', category: 'datacenter' },
      policy: { verdict: 'challenge', reason: 'path:/x' },
    },
    [],
    { bot, source: 'bot', ip_category: ['datacenter'] },
  );
  expect(told.verdict).toMatchObject({ bot, decided_by: 'bot:examplebot' });
  expect(rows(told)).toEqual([
    ['network', null, 'silent', null],
    ['client', null, 'silent', null],
    ['bot', 'allow', 'decided', null],
    ['category', 'challenge', 'lifted', 'bot'],
    ['risk', null, 'silent', null],
    ['limit', null, 'silent', null],
    ['policy', 'challenge', 'lifted', 'bot'],
  ]);
  expect(told).toMatchObject({
    isExact: true,
    without: { by: 'bot:examplebot', decision: 'challenge', decidedBy: 'category:datacenter' },
  });
});

test('an allow names what it lifted, and without it the next rule of its kind counts', async () => {
  const instance = await newInstance();
  const network = rule('ip:192.0.2.1', 'allow');
  const wider = rule('countryCode:DE', 'block');
  const told = await explained(
    instance,
    {
      network,
      category: { verdict: 'block', category: 'tor' },
      risk: { verdict: 'block', score: 0.9 },
      policy: { verdict: 'challenge', reason: 'onPending' },
    },
    [network, wider],
    { ip_category: ['tor'] },
  );
  expect(rows(told)).toEqual([
    ['network', 'allow', 'decided', null],
    ['client', null, 'silent', null],
    ['bot', null, 'silent', null],
    ['category', 'block', 'lifted', 'network'],
    ['risk', 'block', 'lifted', 'network'],
    ['limit', null, 'silent', null],
    ['policy', 'challenge', 'lifted', 'network'],
  ]);
  expect(told.without).toEqual({ by: 'ip:192.0.2.1', decision: 'block', decidedBy: 'countryCode:DE' });
});

test('a challenge that a clearance lifted shows the table before it and the step after it', async () => {
  const instance = await newInstance();
  const agent = rule('userAgent:bot', 'challenge');
  const told = await explained(instance, { client: agent }, [agent], {
    decision: 'allow',
    source: 'clearance',
    enforcement_policy: 'monitor',
  });
  expect(told.verdict.explain).toBe('Challenged by rule userAgent:bot; ruleset version 1. Lifted: clearance.');
  expect(told).toMatchObject({ tableDecision: 'challenge', laterStep: 'clearance', isEnforced: false, isExact: true });
  expect(told.without).toEqual({ by: 'userAgent:bot', decision: 'allow', decidedBy: 'default' });
});

test('a request that a failure policy decided has no table, and a 401 has the one before it', async () => {
  const instance = await newInstance();
  const failed = await explained(instance, {}, [], {
    source: 'error',
    decision: 'block',
    explain: 'The service is down.',
    inputs: undefined,
  });
  expect(failed).toMatchObject({ table: [], tableDecision: null, laterStep: 'error', without: null, isExact: true });
  expect(failed.verdict).toMatchObject({ explain: 'The service is down.' });
  const json = await explained(instance, {}, [], {
    source: 'no-session',
    decision: 'challenge',
    decided_by: 'policy:noSession',
    session_status: 'invalid-session',
  });
  expect(json.verdict.explain).toBe('Answered 401: a json path asks for a session (invalid-session).');
  expect(json).toMatchObject({
    tableDecision: 'allow',
    laterStep: 'no-session',
    isExact: true,
    without: { by: 'policy:noSession', decision: 'allow', decidedBy: 'default' },
  });
});

test('a record of an older edge keeps its sentence, and nobody guesses what was decided from', async () => {
  const explain = 'Blocked by risk score 0.90; ruleset version 1.';
  const given = { explain, inputs: undefined, source: 'risk', decision: 'block', decided_by: 'risk:block' } as const;
  const told = await explained(await newInstance(), {}, [], { ...given, risk_score: 0.9 });
  expect(told).toMatchObject({ table: [], tableDecision: null, without: null, isExact: false });
  expect(told.verdict).toMatchObject({ explain });
  expect(told.verdict).not.toHaveProperty('inputs');
});

test('a reference is found in any active instance of the account, and in no other account', async () => {
  const instance = await newInstance();
  const second = await call(instance.token, '/sites/create', {
    name: 'second',
    settings: { domains: ['example.com'] },
  });
  const made = await call(instance.token, '/protect/instances/create', {
    name: 'Second',
    cname: 'second.example.com',
    globalSiteKey: second.body.siteKey,
  });
  const jwt = await call(instance.token, '/protect/client-jwt/generate', {
    protectInstanceId: made.body.id,
    expiresInWeeks: 1,
  });
  const record = verdictRecordOf(made.body.id, { timestamp: testNow() - 5000 });
  await sendVerdicts(jwt.body.clientJwt, 'second', [record]);
  const requestId = ` ${record.id.toUpperCase()} `;
  const found = await call(instance.token, '/protect/verdicts/explain', { requestId });
  expect([found.status, found.body.verdict.id]).toEqual([200, record.id]);
  expect(found.response.headers.get('x-protect-site-key')).toBe(second.body.siteKey);
  const wrong = { requestId, siteKey: instance.siteKey };
  expect((await call(instance.token, '/protect/verdicts/explain', wrong)).status).toBe(404);
  const other = await newInstance();
  const foreign = await call(other.token, '/protect/verdicts/explain', { requestId });
  expect([foreign.status, foreign.body.error.key]).toEqual([404, 'API.NOT_FOUND']);
  const bad = await call(other.token, '/protect/verdicts/explain', { requestId: 'nonsense' });
  expect([bad.status, bad.body.error.details[0].path]).toEqual([400, 'requestId']);
});
