/** How evenly a visitor types, from the times of key presses. */
import { expect, test } from 'vitest';
import { TypingRhythm } from '../../../src/widget/protect/page-use.ts';
import { expectRows } from '../../support/rows.ts';

function rhythmOf(presses: readonly (readonly [key: string, timeStamp: number, repeat?: boolean])[]) {
  const rhythm = new TypingRhythm();
  for (const [key, timeStamp, repeat = false] of presses) rhythm.add({ key, timeStamp, repeat });
  return rhythm.summary();
}

test('the rhythm is of pauses between single keys', () =>
  expectRows(
    [
      ['nothing typed', [], { keyGaps: 0, keyGapMeanMs: 0, keyGapDeviationMs: 0 }],
      ['one key', [['a', 100]], { keyGaps: 0, keyGapMeanMs: 0, keyGapDeviationMs: 0 }],
      [
        'one pace',
        [
          ['a', 0],
          ['b', 90],
          ['c', 180],
        ],
        { keyGaps: 2, keyGapMeanMs: 90, keyGapDeviationMs: 0 },
      ],
      [
        'an uneven pace',
        [
          ['a', 0],
          ['b', 100],
          ['c', 400],
        ],
        { keyGaps: 2, keyGapMeanMs: 200, keyGapDeviationMs: 100 },
      ],
      [
        'a pause, which does not count',
        [
          ['a', 0],
          ['b', 2000],
          ['c', 2150],
        ],
        { keyGaps: 1, keyGapMeanMs: 150, keyGapDeviationMs: 0 },
      ],
      [
        'a key that is held or repeated',
        [
          ['ArrowDown', 0],
          ['ArrowDown', 30, true],
          ['ArrowDown', 60],
          ['ArrowDown', 90],
        ],
        { keyGaps: 0, keyGapMeanMs: 0, keyGapDeviationMs: 0 },
      ],
      [
        'keys without a name, as on phones',
        [
          ['Tab', 0],
          ['', 90],
          ['', 180],
        ],
        { keyGaps: 0, keyGapMeanMs: 0, keyGapDeviationMs: 0 },
      ],
    ] satisfies [string, [string, number, boolean?][], object][],
    ([, presses, expected]) => {
      expect(rhythmOf(presses)).toEqual(expected);
    },
  ));
