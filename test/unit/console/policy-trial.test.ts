/** What is sent for a test of policies, and what its answer says of each policy. */
import { describe, expect, test } from 'vitest';
import { errorText, marked } from '../../../src/console/views/policies/condition-place.ts';
import type { TextPolicy } from '../../../src/console/views/policies/policy.ts';
import {
  answersOf,
  noFacts,
  outcomeText,
  trialRequest,
  type Trial,
} from '../../../src/console/views/policies/trial.ts';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { expectRows } from '../../support/rows.ts';

const policy = (
  name: string,
  action: 'block' | 'allow' | 'skipSession',
  mode: TextPolicy['mode'] = 'enforce',
): TextPolicy => ({
  name,
  when: 'path exists',
  then: { action },
  mode,
});
const nothing: Trial = {
  policies: [],
  result: { verdict: null, redirect: null, skipSession: false, origin: null, limits: [] },
  unknown: [],
  logged: null,
};
const applied = (name: string, applies: 'yes' | 'unknown') => ({
  name,
  applies,
  mode: 'enforce' as const,
  then: { action: 'block' as const },
});

describe('the answers to a request', () => {
  const policies = [
    policy('first', 'skipSession'),
    policy('watched', 'block', 'monitor'),
    policy('other', 'allow'),
    policy('perhaps', 'allow'),
    policy('sure', 'block'),
    policy('late', 'allow'),
  ];
  const names = ['first', 'watched', 'sure', 'late'];

  test('say of each policy whether it applies, and what it does', () => {
    const trial = { ...nothing, policies: names.map((name) => applied(name, 'yes')) };
    expect(answersOf(policies, trial).map(({ applies, effect }) => `${applies}: ${effect}`)).toEqual([
      'true: adds: skipSession',
      'true: is recorded',
      'false: ',
      'false: ',
      'true: decides: block',
      'true: is not reached',
    ]);
  });

  test('are not certain behind a policy that nobody can tell', () => {
    const trial = {
      ...nothing,
      policies: [...names.map((name) => applied(name, 'yes')), applied('perhaps', 'unknown')],
    };
    expect(answersOf(policies, trial).map(({ effect }) => effect)).toEqual([
      'adds: skipSession',
      'is recorded',
      '',
      'may decide: allow',
      'decides, unless one above does: block',
      'is not reached',
    ]);
  });

  test('lead to one sentence about the request', () => {
    const { result } = nothing;
    expect(outcomeText(nothing)).toBe('No policy decides.');
    const verdict = { policy: 'a', action: 'challenge', level: 2 };
    expect(outcomeText({ ...nothing, result: { ...result, verdict, skipSession: true, limits: ['x'] } })).toBe(
      'a says challenge of level 2; no session is asked for; it counts for x.',
    );
    const redirect = { policy: 'r', location: '/x', status: 302 };
    const logged = {
      before: 'allow' as const,
      after: ['allow', 'block'] as ('allow' | 'block')[],
      decidedBy: 'default',
    };
    expect(outcomeText({ ...nothing, result: { ...result, redirect }, logged })).toBe(
      'r redirects to /x with 302, if nothing else challenges or blocks. It was allow, and would be allow or block.',
    );
  });
});

describe('a request to test', () => {
  test('has the facts about its visitor that were given', () => {
    const facts = { ...noFacts, ip: ' 192.0.2.1 ', country: 'de', riskScore: '0.5', ipCategories: ['vpn'] };
    expect(trialRequest('https://a.example/', facts)).toEqual({
      ok: true,
      value: {
        request: { url: 'https://a.example/', ip: '192.0.2.1', country: 'DE', riskScore: 0.5, ipCategories: ['vpn'] },
      },
    });
  });

  test('is refused with a sentence', () => {
    const requestId = '0b0e7f1c-0d67-4f35-8b3a-4f0a1cb5a0e1';
    expect(trialRequest(requestId, noFacts)).toEqual({ ok: true, value: { requestId } });
    expect(trialRequest(requestId, { ...noFacts, ip: '192.0.2.1' })).toMatchObject({ ok: false });
    expect(trialRequest('https://a.example/', { ...noFacts, riskScore: 'high' })).toMatchObject({ ok: false });
  });
});

test('an error of a condition is marked at its place', () =>
  expectRows(
    [
      ['path eqals "/a"', 'path [eqals] "/a"', 'Column 6: '],
      ['path equals "a" or', 'path equals ["a"] or', 'Column 13: '],
      ['path equals "/a" or', 'path equals "/a" or[ ]', 'Column 20: '],
      ['path equals "/a\nor', 'path equals "/a[ ]\nor', 'Line 1, column 16: '],
    ],
    ([text, expected, start]) => {
      const parsed = parseExpression(text);
      if (parsed.ok) throw new Error('It has no error');
      const { before, bad, after } = marked(text, parsed.error);
      expect(`${before}[${bad}]${after}`).toBe(expected);
      expect(errorText(text, parsed.error).startsWith(start)).toBe(true);
    },
  ));
