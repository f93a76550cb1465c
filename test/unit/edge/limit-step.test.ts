/** What a request above a limit gets, in every form; what lifts limits; and log-in forms that are read for their user. */
import { describe, expect, test } from 'vitest';
import { englishPages } from '../../../src/locales/english-pages.generated.ts';
import type { LimitForm } from '../../../src/contract/management/policy-set/policy-set-form.ts';
import { respond } from '../../../src/edge/answer/respond.ts';
import type { VerdictInputs } from '../../../src/decide/verdict.ts';
import { PageTexts } from '../../../src/edge/feed/page-texts.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { expectRows } from '../../support/rows.ts';
import { NOW_MS, sentenceOf, solvedClearance } from './edge-fixture.ts';
import { endOf, gateWith, limitOf, type Visit } from './limited-gate.ts';

const texts = new PageTexts({ en: englishPages }, null, () => NOW_MS);
const network = (verdict: MatchedRule['verdict'], type: MatchedRule['type']): MatchedRule => ({
  id: `${type}:x`,
  type,
  verdict,
  mode: 'enforce',
});

/** The second visit, which is above the limit. */
async function second(limit: LimitForm, of: Visit = {}) {
  const visit = gateWith([limit]);
  await visit(of);
  const step = await visit(of);
  const response = step.kind === 'answer' ? await respond(step.context, step.answer, texts) : null;
  return { step, response, verdict: step.context.verdict };
}

describe('above a limit', () => {
  test('a request gets 429 with the time to wait, as a page, and its verdict says why', async () => {
    const { response, verdict } = await second(limitOf());
    expect(response?.status).toBe(429);
    expect(Object.fromEntries(response!.headers)).toMatchObject({
      'retry-after': '60',
      'ratelimit-policy': '"login";q=1;w=60',
      ratelimit: '"login";r=0;t=60',
      'x-protect-decision': 'block',
      'cache-control': 'no-store',
    });
    expect(await response!.text()).toContain('Too many requests');
    expect(verdict).toMatchObject({ decision: 'block', source: 'limit', decidedBy: 'limit:login' });
    expect(verdict.firedRules).toEqual([{ id: 'limit:login', verdict: 'block', mode: 'enforce' }]);
    expect(sentenceOf(verdict)).toBe('Blocked by limit login; ruleset version 7.');
  });

  test('a script gets JSON', async () => {
    const { response } = await second(limitOf(), { policy: { defaultPathType: 'json' } });
    expect(response?.headers.get('content-type')).toContain('application/json');
    expect(await response!.json()).toMatchObject({ error: { code: 429, key: 'API.RATE_LIMITED' } });
  });

  test('on responses, a client is told when to come back and no number of requests', async () => {
    const visit = gateWith([limitOf({ on: 'status:401' })]);
    visit.respond(await visit(), 401);
    const step = await visit();
    const response = step.kind === 'answer' ? await respond(step.context, step.answer, texts) : null;
    expect(response?.status).toBe(429);
    expect([response?.headers.get('retry-after'), response?.headers.get('ratelimit')]).toEqual(['60', null]);
  });

  test('that blocks gets the block page, and one that challenges is challenged', async () => {
    expect((await second(limitOf({ then: 'block' }))).response?.status).toBe(403);
    const { step, verdict } = await second(limitOf({ then: 'challenge' }));
    expect([endOf(step), verdict.decision, verdict.source]).toEqual(['challenge', 'challenge', 'limit']);
  });

  test('that challenges, a clearance passes', async () => {
    const { step, verdict } = await second(limitOf({ then: 'challenge' }), { inputs: { clearance: solvedClearance } });
    expect([step.kind, verdict.source]).toEqual(['forward', 'clearance']);
    expect(verdict.firedRules).toEqual([{ id: 'limit:login', verdict: 'challenge', mode: 'enforce' }]);
  });

  test('in monitor mode of limit or instance, a request passes and its record says what would have been', async () => {
    const ofLimit = await second(limitOf({ mode: 'monitor' }));
    expect([ofLimit.step.kind, ofLimit.verdict.decision]).toEqual(['forward', 'allow']);
    expect(ofLimit.verdict.firedRules).toEqual([{ id: 'limit:login', verdict: 'block', mode: 'monitor' }]);
    const ofInstance = await second(limitOf(), { policy: { monitor: true } });
    expect([ofInstance.step.kind, ofInstance.verdict.decision]).toEqual(['forward', 'block']);
  });

  test('an exact limit without its object answers 503 where it is to be closed', async () => {
    const visit = gateWith([limitOf({ exact: true, ifUnreachable: 'closed' })]);
    const step = await visit();
    if (step.kind !== 'answer') throw new Error('it passed');
    const response = await respond(step.context, step.answer, texts);
    expect([response.status, response.headers.get('ratelimit')]).toEqual([503, null]);
    expect(step.context.verdict).toMatchObject({ decision: 'block', source: 'limit' });
    expect((await gateWith([limitOf({ exact: true, ifUnreachable: 'open' })])()).kind).toBe('forward');
  });
});

describe('limits are lifted', () => {
  const match = (rule: MatchedRule) => ({ network: rule, client: null, fired: [rule] });
  test.each<[string, Partial<VerdictInputs>, string]>([
    ['by an allowed address', { match: match(network('allow', 'ip')) }, 'forward'],
    ['by an allowed AS', { match: match(network('allow', 'asn')) }, 'forward'],
    ['by no allowed country', { match: match(network('allow', 'countryCode')) }, 'answer'],
    [
      'by a proved bot that is allowed',
      { bot: { id: 'b', behaviours: [], proof: 'range' }, botAction: 'allow' },
      'forward',
    ],
    [
      'by no bot that is only claimed',
      { bot: { id: 'b', behaviours: [], proof: 'claimed' }, botAction: 'allow' },
      'answer',
    ],
  ])('%s', async (_, inputs, kind) => {
    expect((await second(limitOf(), { inputs })).step.kind).toBe(kind);
  });
});

describe('a log-in form', () => {
  const byUser = limitOf({ key: ['user'], loginFailed: { status: [401], usernameField: 'user.name' } });
  const form = (body: BodyInit, type: string): Visit => ({
    init: { method: 'POST', body, headers: { 'content-type': type } },
  });
  const FORM = 'application/x-www-form-urlencoded';
  const multipart = (name: string) =>
    `--b\r\nContent-Disposition: form-data; name="user.name"\r\n\r\n${name}\r\n--b--\r\n`;

  test('counts for its user, however it is written', () =>
    expectRows<[string, Visit]>(
      [
        ['urlencoded', form('a=1&user.name=Alice%40x.test', FORM)],
        ['multipart', form(multipart(' alice@x.test '), 'multipart/form-data; boundary=b')],
        ['JSON', form('{"user":{"name":"ALICE@x.test"}}', 'application/json')],
        ['with a decoy before it', form('user.name=decoy&user.name=alice%40x.test', FORM)],
        ['with a decoy after it', form('user.name=alice%40x.test&user.name=decoy', FORM)],
      ],
      async ([, of]) => {
        const visit = gateWith([byUser]);
        expect((await visit(form('user.name=alice@x.test', FORM))).kind).toBe('forward');
        expect((await visit(form('user.name=bob@x.test', FORM))).kind).toBe('forward');
        expect((await visit(of)).kind).toBe('answer');
      },
    ));

  test('without a readable user counts for nobody of its network', () =>
    expectRows<[string, Visit]>(
      [
        ['a body that is no form', form('alice', 'text/plain')],
        ['JSON that does not parse', form('{"user":{"name":', 'application/json')],
        ['a user who is no text', form('{"user":{"name":{"a":1}}}', 'application/json')],
        ['no field', form('a=1', FORM)],
        ['no body', {}],
      ],
      async ([, of]) => {
        const visit = gateWith([byUser]);
        expect((await visit(of)).kind).toBe('forward');
        expect((await visit(of)).kind).toBe('answer');
        expect((await visit(form('user.name=carol', FORM))).kind).toBe('forward');
      },
    ));

  test('whose token was verified counts for its user, from the body that was read then', async () => {
    const visit = gateWith([byUser]);
    await visit(form('user.name=alice', FORM));
    const body = 'captcha-response=t&user.name=alice';
    const of = form(body, FORM);
    expect((await visit({ ...of, read: body })).kind).toBe('answer');
    expect((await visit({ ...form('user.name=bob', FORM), read: 'user.name=bob' })).kind).toBe('forward');
  });

  test('goes on with every byte as it came', async () => {
    const body = 'user.name=alice&raw=%ff%00&&x=';
    const step = await gateWith([byUser])(form(body, FORM));
    expect(await step.context.facts.request.text()).toBe(body);
  });

  test('is read for no limit that does not count by user', async () => {
    const of = form('user.name=alice', FORM);
    const step = await gateWith([limitOf()])(of);
    expect(step.context.facts.request.bodyUsed).toBe(false);
  });
});
