/** Regular expressions that an import takes match what they matched: compared with the runtime's own. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePolicies } from '../../../src/policies/compile/compile-policies.ts';
import type { Expression } from '../../../src/policies/expression.ts';
import { NotExpressible } from '../../../src/policies/import/report.ts';
import { compareRegex } from '../../../src/policies/import/text-subject.ts';
import type { PolicyRequest } from '../../../src/policies/request.ts';
import { runs } from '../../support/properties.ts';

const request: PolicyRequest = {
  host: 'h',
  method: 'GET',
  paths: ['/'],
  query: '',
  headers: undefined,
  cookie: null,
  ip: null,
  asn: null,
  country: null,
  ja4: null,
  userAgent: '',
  deviceType: 'unknown',
  bot: null,
  agent: null,
  ipCategories: [],
  sessionStatus: 'none',
  riskScore: null,
  pathType: 'html',
};

function applies(when: Expression, text: string): boolean {
  const policy = { name: 'a', when, then: { action: 'block' }, mode: 'enforce' } as const;
  const { verdict } = compilePolicies([policy], new Set()).evaluate({ ...request, headers: new Headers({ x: text }) });
  return verdict !== null;
}

const atom = fc.constantFrom('a', 'b', '-', '\\.', '\\*', '[ab]', '[a-c]', '.*', '.*?', 'a?', '(?:b)?');
const sequence = fc.array(atom, { maxLength: 4 }).map((atoms) => atoms.join(''));
const group = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join('|')})`);
const regex = fc
  .tuple(fc.constantFrom('', '^'), fc.array(fc.oneof(sequence, group), { maxLength: 3 }), fc.constantFrom('', '$'))
  .map(([start, parts, end]) => `${start}${parts.join('')}${end}`);
const regexes = fc.array(regex, { minLength: 1, maxLength: 2 }).map((alternatives) => alternatives.join('|'));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-', '.', '*'), maxLength: 6 });

test('a regular expression that is taken matches the same texts', () => {
  let taken = 0;
  fc.assert(
    fc.property(regexes, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      let condition;
      try {
        condition = compareRegex({ field: 'header', name: 'x', letterCase: 'exact' }, source, new Set());
      } catch (error) {
        expect(error).toBeInstanceOf(NotExpressible);
        return;
      }
      taken += 1;
      const oracle = new RegExp(source);
      for (const one of texts) {
        const matches = typeof condition === 'boolean' ? condition : applies(condition, one);
        expect([source, one, matches]).toEqual([source, one, oracle.test(one)]);
      }
    }),
    { numRuns: runs(600) },
  );
  expect(taken / runs(600)).toBeGreaterThan(0.5);
});

test('any text is read or refused, and never throws anything else', () => {
  const sign = fc.constantFrom(...String.raw`()[]{}|\.*+?^$-:iPab0`.split(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: sign, maxLength: 30 }), fc.string({ unit: 'binary' })), (source) => {
      try {
        compareRegex({ field: 'userAgent', letterCase: 'exact' }, source, new Set());
      } catch (error) {
        expect(error).toBeInstanceOf(NotExpressible);
      }
    }),
    { numRuns: runs(1000) },
  );
});
