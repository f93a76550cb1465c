/** The text form says the same as the tree, and every error says where it is. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expressionProblem } from '../../../src/contract/management/policy-set/expression.ts';
import { canonicalExpression } from '../../../src/policies/canonical.ts';
import type { Expression } from '../../../src/policies/expression.ts';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { printExpression } from '../../../src/policies/text/print.ts';
import { runs } from '../../support/properties.ts';
import { anyExpression } from './expressions.ts';

function canonical(expression: Expression): Expression {
  const made = canonicalExpression(expression);
  if (!made.ok) throw new Error(made.error.message);
  return made.value;
}

const sound = anyExpression.filter((expression) => expressionProblem(expression) === null);

describe('the text of an expression', () => {
  test('is read back as its canonical form, and that is a sound expression', () => {
    fc.assert(
      fc.property(sound, (expression) => {
        const read = parseExpression(printExpression(expression));
        expect(read).toEqual({ ok: true, value: canonical(expression) });
        expect(expressionProblem(canonical(expression))).toBeNull();
      }),
      { numRuns: runs(1000) },
    );
  });

  test('is the same for equal expressions, whatever the spaces and the redundant parentheses', () => {
    const space = fc.constantFrom(' ', '\n', '\t\r\n ');
    fc.assert(
      fc.property(sound, space, (expression, between) => {
        const text = printExpression(canonical(expression));
        const loose = `(${between}(${printExpression(expression)})${between})`;
        expect(parseExpression(loose)).toEqual({ ok: true, value: canonical(expression) });
        expect(printExpression(canonical(canonical(expression)))).toBe(text);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('with anything cut out of it or put into it is read or refused at a place inside it', () => {
    const damage = fc.oneof(
      fc.constantFrom('', '"', '[', ']', '(', ')', ',', '\\', ' and ', ' not ', '\n', '1', 'x', '😀', '\0'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    fc.assert(
      fc.property(sound, damage, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), (expression, put, at, cut) => {
        const text = printExpression(expression);
        const place = Math.floor(at * text.length);
        const damaged = text.slice(0, place) + put + text.slice(place + cut);
        const read = parseExpression(damaged);
        if (read.ok) {
          expect(parseExpression(printExpression(read.value))).toEqual(read);
          return;
        }
        const { offset, line, column } = read.error;
        expect(offset).toBeLessThanOrEqual(damaged.length);
        const lines = damaged.slice(0, offset).split('\n');
        expect([line, column]).toEqual([lines.length, (lines.at(-1) ?? '').length + 1]);
      }),
      { numRuns: runs(1500) },
    );
  });
});
