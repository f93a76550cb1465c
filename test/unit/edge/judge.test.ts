/** What a request, its visitor and the rules are made into before the decision table, and what follows the verdict. */
import { describe, expect, test } from 'vitest';
import type { EdgeConfig } from '../../../src/contract/edge/edge-responses.ts';
import { riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import type { Policy, PolicyAction } from '../../../src/contract/management/policy-set/policy.ts';
import type { IpCategory } from '../../../src/contract/vocabulary.ts';
import { judge, type Judging } from '../../../src/edge/decide/judge.ts';
import type { KnownVisitor } from '../../../src/edge/decide/known-visitor.ts';
import type { PendingKind } from '../../../src/edge/limits/pending-budget.ts';
import type { ClearanceClaims } from '../../../src/edge/session/clearances.ts';
import type { SessionReading } from '../../../src/edge/session/sessions.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { expectRows } from '../../support/rows.ts';
import { NOW_MS, configOf, factsOf, signalsOf } from './edge-fixture.ts';
import { limitOf } from './limited-gate.ts';

const none: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };
const active: SessionReading = { ...none, status: 'active', jti: 'of-session', riskScore: 0.2 };
const solved = {
  jti: 'of-clearance',
  level: 1,
  kind: 'pow',
  powDifficulty: 4,
  eased: false,
  isAged: false,
  issuedAtMs: 0,
  sinceMs: 0,
  learned: null,
} as const;
const bot = { id: 'examplebot', behaviours: ['search' as const], proof: 'dns' as const };
const challenge: MatchedRule = { id: 'ip:x', type: 'ip', verdict: 'challenge', mode: 'enforce' };
/** Of one detector alone, so that a score says whether the request was looked at. */
const TOR_WEIGHT = 0.3;
const detectorWeights = riskDetectors.map((name) => (name === 'category-tor' ? TOR_WEIGHT : 0));

interface Case {
  path?: string;
  init?: RequestInit;
  ipCategories?: IpCategory[];
  policy?: object;
  /** What the instance's policies do with every path that begins with `/shop`. */
  then?: PolicyAction[];
  visitor?: Partial<KnownVisitor>;
  network?: MatchedRule;
  changes?: Partial<EdgeConfig>;
  hasRoom?: Judging['hasRoom'];
  pace?: ReturnType<Judging['paceOf']>;
  held?: Judging['held'];
}

async function judged(of: Case = {}) {
  const policies = (of.then ?? []).map((then, index) => ({
    name: `policy-${index}`,
    when: { field: 'path', operator: 'startsWith', value: '/shop' } as const,
    then,
    mode: 'enforce' as const,
  }));
  const policySet = { version: 1, policies, limits: [limitOf({ name: 'login' })] };
  const config = await configOf(of.policy, { detectorWeights, policySet, ...of.changes });
  const request = new Request(`https://site.test${of.path ?? '/shop'}`, of.init);
  const signals = signalsOf({ ipCategories: of.ipCategories ?? [] });
  const facts = factsOf(of.path ?? '/shop', { request, signals });
  const asked: { seconds: number[]; rooms: PendingKind[] } = { seconds: [], rooms: [] };
  const context = judge({
    facts,
    config,
    path: config.pathPolicy(facts.target, request.method),
    ruleset: {
      version: 7,
      match: (_, nowSeconds) => {
        asked.seconds.push(nowSeconds);
        return { network: of.network ?? null, client: null, fired: [] };
      },
    },
    visitor: { bot: null, session: active, clearance: null, ...of.visitor },
    held: of.held ?? null,
    hasRoom: (kind) => {
      asked.rooms.push(kind);
      return of.hasRoom?.(kind) ?? true;
    },
    paceOf: () => of.pace ?? { reading: null, payers: [] },
  });
  return { ...context, asked };
}
const verdictFor = async (of: Case) => (await judged(of)).verdict;

describe('the rules', () => {
  test('are asked for the second of the request, and their version is in the context', async () => {
    const { asked, rulesetVersion } = await judged();
    expect(asked.seconds).toEqual([NOW_MS / 1000]);
    expect(rulesetVersion).toBe(7);
  });
});

describe('a preflight', () => {
  const headers = { origin: 'https://shop.test', 'access-control-request-method': 'PUT' };

  test('is OPTIONS with an origin and the method that it asks for, and is not challenged', () =>
    expectRows<[RequestInit, string, string]>(
      [
        [{ method: 'OPTIONS', headers }, 'allow', 'preflight'],
        [{ method: 'OPTIONS', headers: { origin: headers.origin } }, 'challenge', 'access-rule'],
        [{ method: 'OPTIONS', headers: { 'access-control-request-method': 'PUT' } }, 'challenge', 'access-rule'],
        [{ method: 'OPTIONS' }, 'challenge', 'access-rule'],
        [{ method: 'POST', headers }, 'challenge', 'access-rule'],
      ],
      async ([init, decision, source]) => {
        expect(await verdictFor({ init, network: challenge })).toMatchObject({ decision, source });
      },
    ));
});

describe('a policy', () => {
  test('decides about the paths that its condition names, and no others', async () => {
    const then: PolicyAction[] = [{ action: 'block' }];
    expect(await verdictFor({ then })).toMatchObject({ decision: 'block', decidedBy: 'policy:policy-0' });
    expect(await verdictFor({ then, path: '/other' })).toMatchObject({ decision: 'allow', decidedBy: 'default' });
  });

  test('sees the session, the bot and the risk that is known', () =>
    expectRows<[Policy['when'], Case]>(
      [
        [{ field: 'sessionStatus', operator: 'equals', value: 'active' }, {}],
        [{ field: 'bot', operator: 'equals', value: 'examplebot' }, { visitor: { bot } }],
        [{ field: 'riskScore', operator: 'greaterThan', value: 0.4 }, { ipCategories: ['tor'] }],
      ],
      async ([when, of]) => {
        const policies: Policy[] = [{ name: 'seen', when, then: { action: 'block' }, mode: 'enforce' }];
        const changes = { policySet: { version: 1, policies, limits: [] } };
        expect((await verdictFor({ ...of, changes })).decidedBy).toBe('policy:seen');
        expect((await verdictFor({ visitor: { session: none }, changes })).decidedBy).toBe('policy:onPending');
      },
    ));

  test('that skips the session lets a visitor without one pass, where the others need one', async () => {
    const post: Case = { init: { method: 'POST' }, visitor: { session: none } };
    const skipping = await judged({ ...post, then: [{ action: 'skipSession' }] });
    expect(skipping.verdict).toMatchObject({ decision: 'allow', sessionStatus: 'waived' });
    expect(skipping.path.waiveSession).toBe(true);
    const asking = await judged(post);
    expect(asking.verdict.decision).toBe('challenge');
    expect(asking.path.waiveSession).toBe(false);
  });

  test('that names limits hands them on with what the verdict was made from', async () => {
    const then: PolicyAction[] = [{ action: 'limit', limit: 'login' }];
    const { limits } = await judged({ then, network: challenge });
    expect(limits?.names).toEqual(['login']);
    expect(limits?.inputs).toMatchObject({ method: 'GET', match: { network: challenge }, session: active });
    expect((await judged({ then, path: '/other' })).limits).toBeNull();
  });

  test('can name the origin that gets the request', async () => {
    expect((await judged()).origin).toBeNull();
    expect((await judged({ then: [{ action: 'origin', origin: 'second' }] })).origin).toBe('second');
  });
});

describe('a request that no page prepared', () => {
  const post = { init: { method: 'POST' }, visitor: { session: none } };
  const marks = async (of: Case) => (await verdictFor(of)).firedRules.map(({ id }) => id);

  test('is marked in the log, unless it is for an address of the gate itself', async () => {
    expect(await marks(post)).toEqual(['session:no-page']);
    expect(await marks({ ...post, path: '/__protect/session' })).toEqual([]);
  });

  test('is not marked where its headers are those of a page', async () => {
    expect(await marks({ ...post, init: { method: 'POST', headers: { origin: 'https://site.test' } } })).toEqual([]);
  });
});

describe('the risk', () => {
  test('is what the session is known for together with what the request shows', () =>
    expectRows<[SessionReading, IpCategory[], number]>(
      [
        [none, [], 0],
        [none, ['tor'], TOR_WEIGHT],
        [active, [], 0.2],
        [active, ['tor'], 0.5],
      ],
      async ([session, ipCategories, riskScore]) => {
        expect((await verdictFor({ visitor: { session }, ipCategories })).riskScore).toBe(riskScore);
      },
    ));

  test('is not known without a session where no detector looks at requests', async () => {
    const changes = { detectorWeights: [] };
    expect((await verdictFor({ visitor: { session: none }, changes })).riskScore).toBeNull();
  });
});

describe('the budget of visitors without a session', () => {
  const page: Case = { visitor: { session: none }, init: { headers: { accept: 'text/html' } } };
  const rooms = async (of: Case) => (await judged({ ...page, ...of })).asked.rooms;

  test('is asked for a page or a file, and only where it decides', async () => {
    expect(await rooms({})).toEqual(['page']);
    expect(await rooms({ init: { headers: { accept: 'image/png', 'sec-fetch-dest': 'image' } } })).toEqual(['file']);
    expect(await rooms({ visitor: {} })).toEqual([]);
    expect(await rooms({ path: '/__protect/protect.js' })).toEqual([]);
    expect(await rooms({ changes: { pendingExempt: ['192.0.2.0/24'] } })).toEqual([]);
    expect(await rooms({ changes: { pendingExempt: ['198.51.100.0/24'] } })).toEqual(['page']);
  });

  test('is taken from by what it lets pass, and by nothing that it stops', async () => {
    const passed = await judged(page);
    expect([passed.verdict.decidedBy, passed.effects.pending]).toEqual(['policy:onPending', 'page']);
    const stopped = await judged({ ...page, hasRoom: () => false });
    expect([stopped.verdict.decidedBy, stopped.effects.pending]).toEqual(['policy:pendingBudget', null]);
  });
});

describe('the context', () => {
  test('has the id of the session, else that of the clearance', async () => {
    expect((await judged({ visitor: { clearance: solved } })).jti).toBe('of-session');
    expect((await judged({ visitor: { session: none, clearance: solved } })).jti).toBe('of-clearance');
    expect((await judged({ visitor: { session: none } })).jti).toBeNull();
  });

  test('asks to renew a session that ends, and to set a clearance that learned a network', async () => {
    const learned = { jti: 'of-clearance' } as ClearanceClaims;
    const visitor = { session: { ...active, refresh: 'old' }, clearance: { ...solved, learned } };
    expect((await judged({ visitor })).effects).toMatchObject({ pending: null, renewal: 'old', learned });
    expect((await judged()).effects).toMatchObject({ pending: null, renewal: null, learned: null });
  });

  test('lets a request pay for its pace, unless a rule for its network lifts limits', async () => {
    const pace = { reading: { state: 'within', isWorkDue: true, callWeight: 5 }, payers: ['of-session'] } as const;
    const { effects } = await judged({ pace });
    expect(effects).toMatchObject({ pace: { payers: ['of-session'] }, isWorkDue: true });
    expect((await judged({ pace, network: { ...challenge, verdict: 'allow' } })).effects.pace).toBeNull();
    expect((await judged({ pace, network: challenge })).effects.pace).not.toBeNull();
  });

  describe('with a session that has used what it worked for', () => {
    const pace = { reading: { state: 'spent', isWorkDue: true, callWeight: 1 }, payers: null } as const;
    const page = { headers: { accept: 'text/html', 'sec-fetch-dest': 'document' } };

    test('takes a page from the budget of its network, as without a session, and works meanwhile', async () => {
      const { verdict, effects, asked } = await judged({ pace, init: page });
      expect(verdict).toMatchObject({ decision: 'allow', sessionStatus: 'active', firedRules: [] });
      expect(effects).toMatchObject({ pending: 'page', isWorkDue: true });
      expect(asked.rooms).toEqual(['page']);
    });

    test('is challenged where that is used up or there is none, and for what is no page', () =>
      expectRows<[Case]>(
        [
          [{ init: page, hasRoom: () => false }],
          [{ init: page, policy: { enforcementPolicy: { html: { onPending: 'pass', onChallenge: 'challenge' } } } }],
          [{ init: { ...page, method: 'POST' } }],
          [{ init: page, policy: { defaultPathType: 'json' } }],
        ],
        async ([of]) => {
          const { verdict, effects } = await judged({ pace, ...of });
          expect(verdict).toMatchObject({ decision: 'challenge', decidedBy: 'limit:sessionPace' });
          expect(effects.pending).toBeNull();
        },
      ));

    test('takes nothing of the budget where a rule refuses the page or lifts the pace', () =>
      expectRows<[MatchedRule]>([[challenge], [{ ...challenge, verdict: 'allow' }]], async ([network]) => {
        expect((await judged({ pace, init: page, network })).effects.pending).toBeNull();
      }));

    test('that is beyond its pace is refused, whatever the budget has', async () => {
      const beyond = { ...pace, reading: { ...pace.reading, state: 'beyond' } } as const;
      expect(await verdictFor({ pace: beyond, init: page })).toMatchObject({ decision: 'block' });
    });
  });

  test('counts a call as often as the session’s pace says, and a page once', async () => {
    const paceAt = (callWeight: number) =>
      ({ reading: { state: 'within', isWorkDue: false, callWeight }, payers: ['of-session'] }) as const;
    const units = async (callWeight: number, defaultPathType: string) =>
      (await judged({ pace: paceAt(callWeight), policy: { defaultPathType } })).effects.pace!.units;
    expect((await units(5, 'json')) / (await units(1, 'json'))).toBe(5);
    expect(await units(5, 'html')).toBe(await units(1, 'html'));
  });

  test('keeps the submission that came back, and the clearance that was shown', async () => {
    const held = { id: 'held', sealedAtMs: NOW_MS };
    expect(await judged({ held, visitor: { clearance: solved } })).toMatchObject({ held, clearance: solved });
  });
});

test('the bot policy has its say about a bot, and none about anyone else', async () => {
  const policy = { botPolicy: { behaviours: { search: 'block' } } };
  expect(await verdictFor({ policy, visitor: { bot } })).toMatchObject({ decision: 'block', source: 'bot', bot });
  expect(await verdictFor({ policy })).toMatchObject({ decision: 'allow', source: 'default', bot: null });
});
