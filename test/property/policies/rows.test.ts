/** A condition that rows can show is the same after rows have written it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOfText, textOfRows } from '../../../src/console/views/policies/condition-rows.ts';
import { expressionProblem } from '../../../src/contract/management/policy-set/expression.ts';
import { canonicalExpression } from '../../../src/policies/canonical.ts';
import { printExpression } from '../../../src/policies/text/print.ts';
import { runs } from '../../support/properties.ts';
import { anyExpression } from './expressions.ts';

test('a condition that rows show is the same text after they have written it', () => {
  let shown = 0;
  fc.assert(
    fc.property(anyExpression, (expression) => {
      fc.pre(expressionProblem(expression) === null);
      const canonical = canonicalExpression(expression);
      const text = canonical.ok ? printExpression(canonical.value) : '';
      const rows = rowsOfText(text);
      if (rows === null) return;
      shown += 1;
      expect(textOfRows(rows)).toBe(text);
    }),
    { numRuns: runs(1000) },
  );
  expect(shown).toBeGreaterThan(0);
});
