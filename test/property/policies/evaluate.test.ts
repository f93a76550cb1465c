/** The compiled policies say what an evaluator says that reads every condition as it is written. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/contract/management/policy-set/policy.ts';
import { canonicalExpression } from '../../../src/policies/canonical.ts';
import { compilePolicies } from '../../../src/policies/compile/compile-policies.ts';
import type { Expression, PolicyTest } from '../../../src/policies/expression.ts';
import type { PolicyRequest } from '../../../src/policies/request.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { randomFrom } from '../rules/random.ts';
import { anyExpression } from './expressions.ts';
import { readingsOf, testHolds } from './oracle.ts';
import { randomRequest } from './requests.ts';

const EXPRESSIONS = runs(2000);
const REQUESTS = runs(1000);
const SEED = propertySeed;

const expressions = fc.sample(anyExpression, { numRuns: EXPRESSIONS, seed: SEED });
const random = randomFrom(SEED);
const requests = Array.from({ length: REQUESTS }, () => randomRequest(random));
const names = expressions.map((_, index) => `p${index}`);

function canonical(expression: Expression): Expression {
  const made = canonicalExpression(expression);
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

type Tree = (asks: (test: number) => boolean) => boolean;

/** The same answers, each test asked once: there are far fewer different tests than places of tests. */
class Oracle {
  readonly #ids = new Map<string, number>();
  readonly #tests: PolicyTest[] = [];
  readonly #trees: Tree[];

  constructor(all: readonly Expression[]) {
    this.#trees = all.map((expression) => this.#tree(expression));
  }

  holding(request: PolicyRequest): boolean[] {
    const [ofRequest, ...ofReadings] = [request, ...readingsOf(request)].map(() => new Int8Array(this.#tests.length));
    const asking = readingsOf(request).map((reading, index) => (id: number): boolean => {
      const asked = this.#tests[id]!;
      const answers = asked.field === 'path' ? ofReadings[index]! : ofRequest!;
      if (answers[id] === 0) answers[id] = testHolds(asked, reading) ? 1 : -1;
      return answers[id] === 1;
    });
    return this.#trees.map((tree) => asking.some(tree));
  }

  #tree(expression: Expression): Tree {
    if ('and' in expression || 'or' in expression) {
      const isAnd = 'and' in expression;
      const parts = (isAnd ? expression.and : expression.or).map((part) => this.#tree(part));
      return (asks) => (isAnd ? parts.every((part) => part(asks)) : parts.some((part) => part(asks)));
    }
    if ('not' in expression) {
      const inner = this.#tree(expression.not);
      return (asks) => !inner(asks);
    }
    const key = JSON.stringify(expression);
    const id = this.#ids.get(key) ?? this.#tests.push(expression) - 1;
    this.#ids.set(key, id);
    return (asks) => asks(id);
  }
}

test('conditions apply to requests as they are written', () => {
  const oracle = new Oracle(expressions);
  const policies = expressions.map((when, index): Policy => ({
    name: names[index]!,
    when: canonical(when),
    then: { action: 'block' },
    mode: 'monitor',
  }));
  const compiled = compilePolicies(policies, new Set());
  expect(compiled).toMatchObject({ size: EXPRESSIONS, skipped: 0 });
  let applied = 0;
  for (const request of requests) {
    const fired = new Set(compiled.evaluate(request).fired.map(({ id }) => id.slice('policy:'.length)));
    const wanted = oracle.holding(request);
    const wrong = expressions.filter((_, index) => fired.has(names[index]!) !== wanted[index]);
    if (wrong.length > 0) expect(wrong, JSON.stringify(request)).toEqual([]);
    applied += fired.size;
  }
  // Neither side says yes or no to nearly everything.
  expect(applied / (EXPRESSIONS * REQUESTS)).toBeGreaterThan(0.2);
  expect(applied / (EXPRESSIONS * REQUESTS)).toBeLessThan(0.8);
});
