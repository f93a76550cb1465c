/** The automaton of the user agent rules in a file. The signature says nothing about its numbers. */
import { expect, test } from 'vitest';
import { readSnapshot, type Sections } from '../../../src/rules/layout.ts';
import { openSnapshot } from '../../../src/rules/snapshot.ts';
import { CHILD_MASK, NO_FAIL, OUTPUT_FLAG } from '../../../src/rules/substring-build.ts';
import { expectRows } from '../../support/rows.ts';
import { compile } from './rulesets.ts';

/** Two patterns that part late and one that begins inside them: states with children, with links and with outputs. */
const rules = ['abcdefgh', 'abcdefgx', 'bcdez', 'wxyz'].map(
  (value) => ({ type: 'userAgent', value, verdict: 'block' }) as const,
);

/** Whether a file opens in which `change` was made. */
function opens(change: (sections: Sections) => void): boolean {
  const bytes = compile(rules);
  const read = readSnapshot(bytes);
  if (!read.ok) throw new Error(read.error);
  change(read.value.sections);
  return openSnapshot(bytes).ok;
}

/** The first state that has a fail link. */
const linked = ({ uaFails }: Sections): number => uaFails.findIndex((fail) => (fail & NO_FAIL) !== NO_FAIL);
/** The first state at which a pattern's path ends. */
const ending = ({ uaOutputs, uaMeta }: Sections): number => uaOutputs.findIndex((output) => output < uaMeta.length);

test('a file opens as it was compiled', () => {
  expect(opens(() => undefined)).toBe(true);
});

test('a file is refused whose numbers lead out of what they index, or in a circle', () =>
  expectRows<[says: string, change: (sections: Sections) => void]>(
    [
      ['the first pattern begins behind the text', ({ uaOffsets }) => (uaOffsets[0] = 1)],
      ['the last pattern ends before the text', ({ uaOffsets }) => (uaOffsets[uaOffsets.length - 1]! -= 1)],
      ['a pattern is empty', ({ uaOffsets }) => (uaOffsets[1] = 0)],
      ['the grams do not ascend', ({ uaGrams }) => (uaGrams[1] = uaGrams[0]!)],
      ['a state is its own child', ({ uaEdges }) => (uaEdges[0]! &= ~CHILD_MASK)],
      [
        'a child is behind the last state',
        ({ uaEdges, uaFails }) => (uaEdges[uaFails.length - 1] = uaFails.length + 1),
      ],
      ['children descend', ({ uaEdges, uaGrams }) => (uaEdges[1] = (uaEdges[1]! & ~CHILD_MASK) | (uaGrams.length - 1))],
      ['a gram is deeper than four bytes', ({ uaDepths }) => (uaDepths[0]! += 1)],
      ['a child is not one deeper than its parent', ({ uaDepths }) => (uaDepths[uaDepths.length - 1]! += 1)],
      ['a link leads to the state itself', (all) => (all.uaFails[linked(all)] = linked(all))],
      ['a link leads to a state of the same depth', ({ uaFails }) => (uaFails[1] = 0)],
      ['a link with an output leads there', ({ uaFails }) => (uaFails[1] = OUTPUT_FLAG)],
      ['a link leads to a later state', (all) => (all.uaFails[linked(all)] = all.uaFails.length - 1)],
      ['a link leads behind the states', (all) => (all.uaFails[linked(all)] = all.uaFails.length)],
      ['an output is no pattern', (all) => (all.uaOutputs[ending(all)] = all.uaMeta.length)],
      ['a path is longer than its pattern', (all) => (all.uaOutputs[all.uaOutputs.length - 1] = shortest(all))],
      ['an edge has another byte than its child', ({ uaEdges }) => (uaEdges[0]! ^= 0x0100_0000)],
      ['the edges do not end at the last state', ({ uaEdges }) => (uaEdges[uaEdges.length - 1]! += 1)],
    ],
    ([, change]) => {
      expect(opens(change)).toBe(false);
    },
    ([says]) => says,
  ));

/** The pattern with the fewest bytes. */
function shortest({ uaOffsets, uaMeta }: Sections): number {
  const lengths = Array.from({ length: uaMeta.length }, (_, p) => uaOffsets[p + 1]! - uaOffsets[p]!);
  return lengths.indexOf(Math.min(...lengths));
}
