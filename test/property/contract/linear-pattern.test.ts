/** A site's own pattern means here what it means to JavaScript, whose engine is the oracle. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { linearPattern } from '../../../src/contract/management/linear-pattern.ts';

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

test('hits what JavaScript hits', () => {
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      expect(linearPattern(source)?.(given)).toBe(new RegExp(source, 'i').test(given));
    }),
    { numRuns: 5000 },
  );
});
