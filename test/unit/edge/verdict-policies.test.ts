/** What an instance's policies do to a verdict, beside rules, bots, path rules and sessions. */
import { describe, expect, test } from 'vitest';
import { unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import { writtenPolicy } from '../../../src/contract/management/instance-settings.ts';
import { type Verdict, type VerdictInputs, verdictOf } from '../../../src/decide/verdict.ts';
import { NO_OUTCOME, type PolicyOutcome } from '../../../src/policies/outcome.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { sentenceOf, signalsOf, solvedClearance } from './edge-fixture.ts';

const anyone = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null } as const;
const allowIp: MatchedRule = { id: 'ip:192.0.2.1', type: 'ip', verdict: 'allow', mode: 'enforce' };
const challengeIp: MatchedRule = { ...allowIp, verdict: 'challenge' };
const redirect = { name: 'moved', location: '/new', status: 302 } as const;

interface Case extends Partial<Omit<VerdictInputs, 'path' | 'policy' | 'policies'>> {
  path?: Partial<VerdictInputs['path']>;
  policies?: Partial<PolicyOutcome>;
  network?: MatchedRule;
}

function verdict({ path, policies, network, ...changes }: Case): Verdict {
  return verdictOf({
    policy: writtenPolicy.parse({ sessionsEnabled: true }),
    site: unknownSite,
    method: 'GET',
    hasPendingRoom: true,
    pace: null,
    preflight: false,
    ofPage: true,
    signals: signalsOf(),
    bot: null,
    botAction: 'inherit',
    match: { network: network ?? null, client: null, fired: network ? [network] : [] },
    session: { ...anyone, status: 'active' },
    risk: null,
    detectorNames: [],
    clearance: null,
    ...changes,
    path: { pathType: 'html', action: 'inherit', pattern: null, waiveSession: false, exempt: false, ...path },
    policies: { ...NO_OUTCOME, ...policies },
  });
}

function says(action: 'allow' | 'challenge' | 'block', level = 0, isOpen = false): Partial<PolicyOutcome> {
  const fired = [{ id: 'policy:mine', verdict: action, mode: 'enforce' as const }];
  return { verdict: { name: 'mine', action, level }, isOpen, fired };
}

describe('a policy', () => {
  test('decides before the path rule, which is not asked any more', () => {
    const path = { action: 'block', pattern: '/x' } as const;
    const allowed = verdict({ path, policies: says('allow') });
    expect(allowed).toMatchObject({
      decision: 'allow',
      decidedBy: 'policy:mine',
      source: 'policy',
      firedRules: [{ id: 'policy:mine' }],
    });
    expect(sentenceOf(allowed)).toBe('Allowed by policy mine; ruleset version 7.');
    expect(verdict({ path }).decidedBy).toBe('path:/x');
  });

  test('and the path rule both count where the path can be read so that no policy applies', () => {
    const path = { action: 'block', pattern: '/x' } as const;
    expect(verdict({ path, policies: says('allow', 0, true) }).decidedBy).toBe('path:/x');
    expect(verdict({ path, policies: says('challenge', 0, true) }).decidedBy).toBe('path:/x');
    const open = { action: 'allow', pattern: '/x' } as const;
    expect(verdict({ path: open, policies: says('challenge', 0, true) }).decidedBy).toBe('policy:mine');
  });

  test('that allows lets a page pass that would need a session, and takes nothing from the budget', () => {
    const told = verdict({ session: anyone, hasPendingRoom: false, policies: says('allow') });
    expect(told).toMatchObject({ decision: 'allow', decidedBy: 'policy:mine', takesPending: false });
    expect(verdict({ session: anyone, hasPendingRoom: false }).decision).toBe('challenge');
  });

  test('that blocks stays for a bot that the bot policy allows, as a closed path does', () => {
    const bot = { id: 'examplebot', behaviours: ['search'], proof: 'dns' } as const;
    const allowed = { bot, botAction: 'allow' } as const;
    expect(verdict({ ...allowed, policies: says('block') }).decidedBy).toBe('policy:mine');
    expect(verdict({ ...allowed, policies: says('challenge') }).decidedBy).toBe('bot:examplebot');
  });

  test('never softens a rule', () => {
    expect(verdict({ network: challengeIp, policies: says('allow') }).decision).toBe('challenge');
    expect(verdict({ network: { ...allowIp, verdict: 'block' }, policies: says('allow') }).decision).toBe('block');
  });

  test('asks for a level that a weaker clearance does not have', () => {
    const level = (wanted: number, had: object) =>
      verdict({ policies: says('challenge', wanted), clearance: { ...solvedClearance, ...had } });
    expect(level(0, {})).toMatchObject({ decision: 'allow', source: 'clearance', level: 1 });
    expect(level(1, {}).decision).toBe('allow');
    expect(level(2, {})).toMatchObject({ decision: 'challenge', levelWanted: 2 });
    expect(level(2, { level: 2, kind: 'puzzle' }).decision).toBe('allow');
  });

  test('raises the level of a challenge by a rule, unless a rule lifts it', () => {
    expect(verdict({ network: challengeIp, policies: says('challenge', 2) }).levelWanted).toBe(2);
    expect(verdict({ network: allowIp, policies: says('challenge', 2) }).levelWanted).toBe(0);
  });
});

describe('a redirect', () => {
  const moved = {
    redirect,
    isOpen: false,
    fired: [{ id: 'policy:moved', verdict: 'allow', mode: 'enforce' }],
  } as const;

  test('is for an allowed request', () => {
    expect(verdict({ policies: moved })).toMatchObject({ decision: 'allow', decidedBy: 'policy:moved', redirect });
  });

  test('is not for one that a rule stops, or one whose policies a rule lifts', () => {
    expect(verdict({ network: challengeIp, policies: moved }).decision).toBe('challenge');
    expect(verdict({ network: allowIp, policies: moved })).toMatchObject({ decision: 'allow', redirect: null });
  });
});
