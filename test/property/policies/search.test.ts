/** Lists of policies: which one decides, and what the others add, in every reading of the path. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Policy, PolicyAction } from '../../../src/contract/management/policy-set/policy.ts';
import { canonicalExpression } from '../../../src/policies/canonical.ts';
import { compilePolicies } from '../../../src/policies/compile/compile-policies.ts';
import type { PolicyOutcome } from '../../../src/policies/outcome.ts';
import type { PolicyRequest } from '../../../src/policies/request.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { randomFrom } from '../rules/random.ts';
import { anyExpression } from './expressions.ts';
import { holds, type Reading, readingsOf } from './oracle.ts';
import { randomRequest } from './requests.ts';

const LISTS = runs(150);
const REQUESTS_PER_LIST = 40;
const limits = ['one', 'two'];
const actions: PolicyAction[] = [
  { action: 'allow' },
  { action: 'challenge' },
  { action: 'challenge', level: 2 },
  { action: 'block' },
  { action: 'redirect', location: '/closed', status: 302 },
  { action: 'skipSession' },
  { action: 'limit', limit: 'one' },
  { action: 'limit', limit: 'two' },
  { action: 'origin', origin: 'one' },
  { action: 'origin', origin: 'two' },
];

type Said = Pick<PolicyOutcome, 'verdict' | 'redirect' | 'skipSession' | 'isOpen' | 'origin'> & {
  limits: string[];
  fired: string[];
};

/** In one reading: from the first policy to the last, as an operator reads the list. */
function walked(policies: readonly Policy[], reading: Reading): Said {
  const said: Said = {
    verdict: null,
    redirect: null,
    skipSession: false,
    isOpen: true,
    limits: [],
    origin: null,
    fired: [],
  };
  for (const { name, when, then, mode } of policies) {
    if (!holds(when, reading)) continue;
    said.fired.push(`policy:${name}`);
    if (mode === 'monitor') continue;
    if (then.action === 'skipSession') said.skipSession = true;
    else if (then.action === 'limit') said.limits.push(then.limit);
    else if (then.action === 'origin') said.origin ??= then.origin;
    else if (then.action === 'redirect') {
      const { location, status } = then;
      return { ...said, redirect: { name, location, status }, isOpen: false };
    } else {
      const level = then.action === 'challenge' ? (then.level ?? 0) : 0;
      return { ...said, verdict: { name, action: then.action, level }, isOpen: false };
    }
  }
  return said;
}

const order = ['allow', 'nothing', 'redirect', 'challenge 0', 'challenge 1', 'challenge 2', 'block'];

function rank({ verdict, redirect }: Said): number {
  if (redirect) return order.indexOf('redirect');
  if (!verdict) return order.indexOf('nothing');
  return order.indexOf(verdict.action === 'challenge' ? `challenge ${verdict.level}` : verdict.action);
}

function expected(policies: readonly Policy[], request: PolicyRequest): Said {
  const readings = readingsOf(request).map((reading) => walked(policies, reading));
  const strictest = readings.reduce((one, other) => (rank(other) > rank(one) ? other : one));
  return {
    ...strictest,
    skipSession: readings.every(({ skipSession }) => skipSession),
    isOpen: readings.some(({ isOpen }) => isOpen),
    origin: readings.find(({ origin }) => origin !== null)?.origin ?? null,
    limits: [...new Set(readings.flatMap((one) => one.limits))].toSorted(),
    fired: [...new Set(readings.flatMap(({ fired }) => fired))].toSorted(),
  };
}

const policy = fc.record({
  when: anyExpression,
  then: fc.constantFrom(...actions),
  mode: fc.constantFrom('enforce' as const, 'enforce' as const, 'monitor' as const),
});
const list = fc.array(policy, { minLength: 1, maxLength: 12 }).map((items): Policy[] =>
  items.flatMap((item, index) => {
    const when = canonicalExpression(item.when);
    return when.ok ? [{ ...item, when: when.value, name: `p${index}` }] : [];
  }),
);

test('a list of policies says what its first match and what comes before it say, in the strictest reading', () => {
  const random = randomFrom(propertySeed);
  let decided = 0;
  for (const policies of fc.sample(list, { numRuns: LISTS, seed: propertySeed })) {
    const compiled = compilePolicies(policies, new Set(limits));
    for (let count = 0; count < REQUESTS_PER_LIST; count++) {
      const request = randomRequest(random);
      if (request.paths === null) continue;
      const outcome = compiled.evaluate(request);
      const said = {
        ...outcome,
        limits: [...outcome.limits].toSorted(),
        fired: outcome.fired.map(({ id }) => id).toSorted(),
      };
      expect(said, JSON.stringify({ policies, request })).toEqual(expected(policies, request));
      if (!outcome.isOpen) decided++;
    }
  }
  expect(decided).toBeGreaterThan(LISTS * 10);
});
