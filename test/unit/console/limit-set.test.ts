/** What the console writes into the policy set when somebody adds, changes or removes a limit. */
import { expect, test } from 'vitest';
import type { StoredSet } from '../../../src/console/views/policies/policy.ts';
import { type ListedLimit, setWith } from '../../../src/console/views/limits/limit-set.ts';

const limit = (name: string, count = 1): ListedLimit => ({
  name,
  key: ['ip'],
  count,
  windowSeconds: 60,
  algorithm: 'sliding',
  on: 'request',
  then: '429',
  exact: false,
  mode: 'enforce',
});
const when = { field: 'path', operator: 'equals', value: '/' } as const;
const hits = { total: 0, allow: 0, challenge: 0, block: 0, lastHitAt: null };
const listed = (name: string, then: StoredSet['policies'][number]['then']): StoredSet['policies'][number] => ({
  name,
  when,
  then,
  mode: 'enforce',
  text: 'path equals "/"',
  hits,
});
const set = (...limits: ListedLimit[]): StoredSet => ({
  version: 3,
  origins: {},
  limits,
  policies: [
    listed('pass', { action: 'allow' }),
    listed('login', { action: 'limit', limit: 'login' }),
    listed('shop', { action: 'limit', limit: 'shop' }),
  ],
});

test('a limit that changes keeps its place, and no policy is sent', () => {
  const next = limit('login', 5);
  expect(setWith(set(limit('login'), limit('shop')), { name: 'login', limit: next })).toEqual({
    limits: [next, limit('shop')],
  });
});

test('a new limit with a condition gets a policy before all others, with a name that is free', () => {
  const condition = 'path equals "/login"';
  const { limits, policies } = setWith(set(), { name: 'login', limit: limit('login'), condition });
  expect(limits).toEqual([limit('login')]);
  expect(policies).toEqual([
    { name: 'login-2', when: condition, then: { action: 'limit', limit: 'login' }, mode: 'enforce' },
    { name: 'pass', when, then: { action: 'allow' }, mode: 'enforce' },
    { name: 'login', when, then: { action: 'limit', limit: 'login' }, mode: 'enforce' },
    { name: 'shop', when, then: { action: 'limit', limit: 'shop' }, mode: 'enforce' },
  ]);
});

test('the policies of a limit are removed with it, and no others', () => {
  const { limits, policies } = setWith(set(limit('login'), limit('shop')), { name: 'login', limit: null });
  expect(limits).toEqual([limit('shop')]);
  expect(policies?.map((one) => (one as { name: string }).name)).toEqual(['pass', 'shop']);
});

test('without such a policy only the limits are sent', () => {
  expect(setWith(set(limit('unused')), { name: 'unused', limit: null })).toEqual({ limits: [] });
});
