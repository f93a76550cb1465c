/** From inputs to a verdict: sessions, thresholds, policies, clearance, monitor mode and rollout. */
import { describe, expect, test } from 'vitest';
import { type BotProof, type Decision } from '../../../src/contract/vocabulary.ts';
import { writtenPolicy } from '../../../src/contract/management/instance-settings.ts';
import { type SiteDemand, unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import type { ClearanceReading } from '../../../src/edge/session/clearances.ts';
import type { SessionReading } from '../../../src/edge/session/sessions.ts';
import type { Signals } from '../../../src/edge/request/signals.ts';
import { type VerdictInputs, verdictOf } from '../../../src/decide/verdict.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { NO_OUTCOME, type PolicyOutcome } from '../../../src/policies/outcome.ts';
import { expectRows } from '../../support/rows.ts';
import { signalsOf } from './edge-fixture.ts';

const rule = (type: MatchedRule['type'], says: Decision): MatchedRule => ({
  id: `${type}:x`,
  type,
  verdict: says,
  mode: 'enforce',
});
const active = (riskScore = 0): SessionReading => ({
  status: 'active',
  jti: 'j',
  riskScore,
  detectors: 0,
  refresh: null,
  paid: null,
});
const none: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };

interface Case {
  policy?: object;
  path?: Partial<VerdictInputs['path']>;
  method?: string;
  network?: MatchedRule;
  client?: MatchedRule;
  session?: SessionReading;
  risk?: VerdictInputs['risk'];
  site?: Partial<SiteDemand>;
  /** Its level, or what differs from a proof of work of the usual difficulty. */
  clearance?: number | Partial<ClearanceReading>;
  preflight?: boolean;
  ofPage?: boolean;
  hasPendingRoom?: boolean;
  signals?: Partial<Signals>;
  bot?: VerdictInputs['bot'];
  botAction?: VerdictInputs['botAction'];
  policies?: Partial<PolicyOutcome>;
}
function clearanceOf(given: Case['clearance']): ClearanceReading | null {
  if (given === undefined) return null;
  const usual = { jti: 'c', level: 1, kind: 'pow', powDifficulty: 4, eased: false } as const;
  const shown = { issuedAtMs: 0, sinceMs: 0, isAged: false, learned: null };
  return { ...usual, ...shown, ...(typeof given === 'number' ? { level: given } : given) };
}

function verdict(of: Case) {
  const { network = null, client = null, session = active() } = of;
  return verdictOf({
    policy: writtenPolicy.parse(of.policy ?? {}),
    site: { ...unknownSite, ...of.site },
    path: { pathType: 'html', action: 'inherit', pattern: null, waiveSession: false, exempt: false, ...of.path },
    method: of.method ?? 'GET',
    hasPendingRoom: of.hasPendingRoom ?? true,
    pace: null,
    preflight: of.preflight ?? false,
    ofPage: of.ofPage ?? true,
    signals: signalsOf(of.signals),
    bot: of.bot ?? null,
    botAction: of.botAction ?? 'inherit',
    match: { network, client, fired: [network, client].filter((fired) => fired !== null) },
    session,
    risk: of.risk ?? (session.riskScore === null ? null : { score: session.riskScore, detectors: 0 }),
    detectorNames: [],
    clearance: clearanceOf(of.clearance),
    policies: { ...NO_OUTCOME, ...of.policies },
  });
}

describe('a request that no page prepared', () => {
  const marks = (of: Case) => verdict({ method: 'POST', ofPage: false, ...of }).firedRules.map(({ id }) => id);

  test('is marked in the log where its visitor has no session, and decided as before', () => {
    expect(marks({ session: none })).toEqual(['session:no-page']);
    const { decision, decidedBy } = verdict({ session: none, method: 'POST', ofPage: false });
    expect(verdict({ session: none, method: 'POST' })).toMatchObject({ decision, decidedBy });
  });

  test('is not marked with a session, or where a path waives it', () => {
    expect(marks({})).toEqual([]);
    expect(marks({ session: none, path: { waiveSession: true } })).toEqual([]);
    expect(marks({ session: none, ofPage: true })).toEqual([]);
  });
});

describe('sessions', () => {
  test.each<[string, Case, string, string]>([
    ['a page without a session passes', { session: none }, 'allow', 'bootstrap-passthrough'],
    [
      'other methods of a page without a session are challenged',
      { session: none, method: 'POST' },
      'challenge',
      'policy',
    ],
    [
      'onPending may challenge a page without a session',
      { session: none, policy: { enforcementPolicy: { html: { onPending: 'captcha' } } } },
      'challenge',
      'policy',
    ],
    [
      'a json path without a session is challenged',
      { session: none, path: { pathType: 'json' } },
      'challenge',
      'no-session',
    ],
    [
      'a path may waive the session',
      { session: none, path: { pathType: 'json', waiveSession: true } },
      'allow',
      'default',
    ],
    [
      'an allow by a network rule waives the session',
      { session: none, path: { pathType: 'json' }, network: rule('asn', 'allow') },
      'allow',
      'access-rule',
    ],
    [
      'an allow by a user agent rule does not waive the session',
      { session: none, path: { pathType: 'json' }, client: rule('userAgent', 'allow') },
      'challenge',
      'no-session',
    ],
    [
      'a clearance stands for a session',
      { session: none, path: { pathType: 'json' }, clearance: 2 },
      'allow',
      'clearance',
    ],
    [
      'a clearance that is too low stands for none',
      { session: none, path: { pathType: 'json' }, clearance: 0, policy: { clearanceLevel: 1 } },
      'challenge',
      'no-session',
    ],
    [
      'with sessions off no session is required',
      { session: { ...none, status: 'off' }, path: { pathType: 'json' }, method: 'POST' },
      'allow',
      'default',
    ],
  ])('%s', (_, of, decision, source) => {
    expect(verdict(of)).toMatchObject({ decision, source });
  });

  test('a challenge by a rule is a challenge on a json path too', () => {
    const of = { session: none, path: { pathType: 'json' as const }, network: rule('ip', 'challenge') };
    expect(verdict(of)).toMatchObject({ decision: 'challenge', source: 'access-rule', status: 'no-session' });
    expect(verdict({ ...of, clearance: 2 })).toMatchObject({ decision: 'allow', source: 'clearance', status: null });
  });
});

describe('risk and categories', () => {
  test('a score has the decision of the highest threshold that it reaches', () =>
    expectRows(
      [
        [0.49, 'allow'],
        [0.5, 'challenge'],
        [0.84, 'challenge'],
        [0.85, 'block'],
      ],
      ([score, decision]) => {
        expect(verdict({ session: active(score) })).toMatchObject({ decision, riskScore: score });
      },
    ));

  test('onChallenge decides what a challenge by risk becomes', () => {
    const policy = { enforcementPolicy: { html: { onChallenge: 'block' }, json: { onChallenge: 'allow' } } };
    expect(verdict({ policy, session: active(0.6) }).decision).toBe('block');
    expect(verdict({ policy, session: active(0.6), path: { pathType: 'json' } }).decision).toBe('allow');
  });

  test('the strictest category decides, in any order', () => {
    const policy = { ipCategoryRules: { tor: 'block', datacenter: 'captcha' } };
    expect(verdict({ policy, signals: { ipCategories: ['datacenter'] } })).toMatchObject({
      decision: 'challenge',
      source: 'ip-category',
      decidedBy: 'category:datacenter',
    });
    for (const ipCategories of [['datacenter', 'tor'] as const, ['tor', 'datacenter'] as const]) {
      expect(verdict({ policy, signals: { ipCategories } })).toMatchObject({
        decision: 'block',
        decidedBy: 'category:tor',
      });
    }
  });
});

describe('paths', () => {
  test.each(['allow', 'challenge', 'block'] as const)('a path rule can %s', (action) => {
    expect(verdict({ path: { action, pattern: '/x/**' } })).toMatchObject({
      decision: action,
      decidedBy: 'path:/x/**',
    });
  });

  test('an allow by a path rule lifts nothing above policy', () => {
    expect(verdict({ path: { action: 'allow', pattern: '/x' }, network: rule('ip', 'block') }).decision).toBe('block');
  });

  test('an exempt path is not challenged but can be blocked', () => {
    expect(verdict({ path: { exempt: true }, network: rule('ip', 'challenge') })).toMatchObject({
      decision: 'allow',
      source: 'exempt',
    });
    expect(verdict({ path: { exempt: true }, network: rule('ip', 'block') }).decision).toBe('block');
  });

  test('a preflight that would be challenged is forwarded', () => {
    expect(verdict({ preflight: true, method: 'OPTIONS', session: none })).toMatchObject({
      decision: 'allow',
      source: 'preflight',
    });
    expect(verdict({ preflight: true, network: rule('ip', 'block') }).decision).toBe('block');
  });
});

describe('clearance', () => {
  test('lifts a challenge up to its level, never a block', () => {
    const of = { network: rule('ip', 'challenge') };
    expect(verdict({ ...of, clearance: 0 })).toMatchObject({ decision: 'allow', source: 'clearance', level: 0 });
    expect(verdict({ ...of, clearance: 1, policy: { clearanceLevel: 2 } }).decision).toBe('challenge');
    expect(verdict({ network: rule('ip', 'block'), clearance: 2 }).decision).toBe('block');
    expect(verdict({ session: active(0.9), clearance: 2 }).decision).toBe('block');
  });

  test('is named with its level where it lifted a challenge, and nowhere else', () =>
    expectRows<[says: string, of: Case, level: number | null]>(
      [
        ['it lifted a challenge', { clearance: 1 }, 1],
        ['it lifted a challenge, and a session is asked for', { path: { pathType: 'json' }, session: none }, 1],
        ['an exempt path lifted it', { path: { exempt: true } }, null],
        ['a preflight lifted it', { preflight: true }, null],
        ['nobody can tell whose address it is', { signals: { isAddressUnread: true } }, null],
        ['there was no challenge', { network: rule('ip', 'allow') }, null],
      ],
      ([, of, level]) => {
        expect(verdict({ network: rule('ip', 'challenge'), clearance: 1, ...of }).level).toBe(level);
      },
    ));

  const rule0 = { network: rule('ip', 'challenge') };
  const pow = { kind: 'pow', powDifficulty: 4 } as const;
  const image = { kind: 'image', powDifficulty: 6, level: 2 } as const;
  test('lets pass where it has the work, kind and level that are needed now, and is challenged otherwise', () =>
    expectRows<[string, Decision, Case]>(
      [
        ['a proof of work of the site’s difficulty', 'allow', { ...rule0, clearance: pow }],
        ['less work than the site asks for', 'challenge', { ...rule0, clearance: { powDifficulty: 3.5 } }],
        ['less work, where a rule asked for less', 'allow', { ...rule0, clearance: { powDifficulty: 1, eased: true } }],
        [
          'a proof of work for an image site',
          'challenge',
          { ...rule0, site: { captchaType: 'image' }, clearance: pow },
        ],
        [
          'a proof of work for an image site, where a rule asked for it',
          'allow',
          { ...rule0, site: { captchaType: 'image' }, clearance: { ...pow, eased: true } },
        ],
        [
          'a puzzle for an image site',
          'challenge',
          { ...rule0, site: { captchaType: 'image' }, clearance: { ...image, kind: 'puzzle' } },
        ],
        ['an image for a puzzle site', 'allow', { ...rule0, site: { captchaType: 'puzzle' }, clearance: image }],
        ['a proof of work for a site of level 2', 'challenge', { ...rule0, site: { minimumLevel: 2 }, clearance: pow }],
        ['a wait', 'challenge', { ...rule0, clearance: { powDifficulty: 0, level: 0 } }],
        [
          'a wait, where it counts',
          'allow',
          { ...rule0, site: { minimumLevel: 0 }, clearance: { powDifficulty: 0, level: 0 } },
        ],
        [
          'an easy proof of work, where only the request is at risk',
          'allow',
          { risk: { score: 0.6, detectors: 0 }, clearance: pow },
        ],
        ['an easy proof of work, after the risk rose', 'challenge', { session: active(0.6), clearance: pow }],
        [
          'an eased proof of work, after the risk rose',
          'challenge',
          { session: active(0.6), clearance: { ...pow, eased: true } },
        ],
        [
          'a wait, after the risk rose',
          'challenge',
          { session: active(0.6), site: { minimumLevel: 0 }, clearance: { powDifficulty: 0 } },
        ],
        ['an image, after the risk rose', 'allow', { session: active(0.7), clearance: image }],
        [
          'an image with too little work, after the risk rose',
          'challenge',
          { session: active(0.7), clearance: { ...image, powDifficulty: 5 } },
        ],
      ],
      ([, decision, of]) => {
        expect(verdict(of).decision).toBe(decision);
      },
    ));
});

describe('modes', () => {
  test('monitor and rollout record the decision and do not enforce it', () => {
    const of = { network: rule('ip', 'block') };
    expect(verdict({ ...of, policy: { monitor: true } })).toMatchObject({
      decision: 'block',
      enforcementPolicy: 'monitor',
    });
    expect(verdict({ ...of, policy: { rollout: 50 }, signals: { rolloutBucket: 4999 } }).enforcementPolicy).toBe(
      'enforce',
    );
    expect(verdict({ ...of, policy: { rollout: 50 }, signals: { rolloutBucket: 5000 } }).enforcementPolicy).toBe(
      'rollout-excluded',
    );
    expect(verdict({ ...of, policy: { rollout: 0 } }).enforcementPolicy).toBe('rollout-excluded');
    expect(verdict({ ...of, policy: { rollout: 100 }, signals: { rolloutBucket: 9999 } }).enforcementPolicy).toBe(
      'enforce',
    );
  });
});

describe('a bot', () => {
  const bot = (proof: BotProof) => ({ id: 'examplebot', behaviours: ['search' as const], proof });
  const json = { pathType: 'json' as const };
  const risky = { score: 0.9, detectors: 0 };

  test.each<[string, Case, [string, string, string]]>([
    ['is allowed without a session on a json path', { path: json }, ['allow', 'bot', 'bot:examplebot']],
    ['needs no budget', { hasPendingRoom: false }, ['allow', 'bot', 'bot:examplebot']],
    ['is not judged by its headers', { risk: risky }, ['allow', 'bot', 'bot:examplebot']],
    [
      'passes a challenged category',
      { policy: { ipCategoryRules: { datacenter: 'challenge' } }, signals: { ipCategories: ['datacenter'] } },
      ['allow', 'bot', 'bot:examplebot'],
    ],
    ['passes a challenged path', { path: { action: 'challenge', pattern: '/x' } }, ['allow', 'bot', 'bot:examplebot']],
    ['does not pass a closed path', { path: { action: 'block', pattern: '/x' } }, ['block', 'policy', 'path:/x']],
    [
      'does not pass a rule',
      { network: { id: 'asn:64496', type: 'asn', verdict: 'block', mode: 'enforce' } },
      ['block', 'access-rule', 'asn:64496'],
    ],
  ])('that is proved and allowed %s', (_, of, expected) => {
    for (const proof of ['range', 'dns', 'signature'] as const) {
      const { decision, source, decidedBy } = verdict({ session: none, bot: bot(proof), botAction: 'allow', ...of });
      expect([decision, source, decidedBy]).toEqual(expected);
    }
  });

  test.each<[string, Case]>([
    ['a missing session', { path: json }],
    ['a spent budget', { hasPendingRoom: false }],
    ['its risk score', { risk: risky }],
  ])('that is proved and inherits is not stopped by %s', (_, of) => {
    const told = verdict({ session: none, bot: bot('dns'), botAction: 'inherit', ...of });
    expect([told.decision, told.source, told.takesPending]).toEqual(['allow', 'default', false]);
  });

  test('that is not proved has no advantage: it needs a session, and its headers count', () => {
    for (const proof of ['claimed', 'impostor'] as const) {
      const given = { session: none, bot: bot(proof), botAction: 'allow' as const };
      expect(verdict({ ...given, path: json }).source).toBe('no-session');
      expect(verdict({ ...given, risk: risky }).decision).toBe('block');
    }
  });

  test('is decided by the bot policy, and the record says who it is', () =>
    expectRows<[BotProof, VerdictInputs['botAction'], [string, string, boolean]]>(
      [
        ['range', 'block', ['block', 'bot', false]],
        ['range', 'charge', ['block', 'bot', true]],
        ['signature', 'challenge', ['challenge', 'bot', false]],
        ['claimed', 'block', ['block', 'bot', false]],
        ['impostor', 'challenge', ['challenge', 'impostor', false]],
      ],
      ([proof, botAction, expected]) => {
        const told = verdict({ bot: bot(proof), botAction });
        expect([told.decision, told.source, told.isCharged]).toEqual(expected);
        expect([told.decidedBy, told.bot]).toEqual(['bot:examplebot', bot(proof)]);
      },
    ));

  test('that robots.txt refuses gets what it says on paths where others are never challenged', () => {
    const exempt = { path: { exempt: true }, botAction: 'challenge' as const };
    expect(verdict({ ...exempt, bot: bot('range') }).decision).toBe('challenge');
    expect(verdict({ ...exempt, bot: bot('impostor') }).source).toBe('exempt');
  });
});
