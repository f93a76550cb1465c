/** A pattern that RE2 and JavaScript both understand matches the same texts in both. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocklistProblem, compileBlocklist } from '../../../src/contract/management/email-blocklist.ts';
import { runs } from '../../support/properties.ts';

const atoms = ['a', 'b', 'A', 'ä', '.', '[ab]', '[^a]', '[a-z.]', '\\w', '\\d', '-', '@', '\\.', '\\b', '^', '$', '()'];
const signs = ['*', '+', '?', '{2}', '{1,2}', '{0,}', '*?', '{0}'];

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...atoms),
    fc.tuple(tie('pattern'), tie('pattern')).map(([first, second]) => first + second),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
    fc.tuple(tie('pattern'), fc.constantFrom(...signs)).map(([part, sign]) => `(?:${part})${sign}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '-', '.', '1', '@', 'ä', '\n'), maxLength: 6 });

test('a list matches what one of its patterns matches in JavaScript', () => {
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), text, (sources, given) => {
      expect(blocklistProblem(sources)).toBeNull();
      const expected = sources.some((source) => new RegExp(source, 'i').test(given));
      expect(compileBlocklist(sources)(given)).toBe(expected);
    }),
    { numRuns: runs(5000) },
  );
});
