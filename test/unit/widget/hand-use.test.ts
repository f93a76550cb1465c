/** Which movements of the mouse are straight as no hand's is. Presses and fields are tested in a browser. */
import { expect, test } from 'vitest';
import { HandUse } from '../../../src/widget/protect/hand-use.ts';
import { expectRows } from '../../support/rows.ts';

type Path = (part: number) => readonly [x: number, y: number];

function judged(path: Path, { moves = 20, everyMs = 16 } = {}): { strokes: number; straight: number } {
  const hands = new HandUse();
  for (let step = 0; step <= moves; step++) {
    const [clientX, clientY] = path(step / moves);
    const move = { type: 'pointermove', pointerType: 'mouse', isTrusted: true, timeStamp: step * everyMs };
    hands.add({ ...move, clientX, clientY } as unknown as Event);
  }
  const { strokes, straight } = hands.take();
  return { strokes, straight };
}

const line: Path = (part) => [100 + 300 * part, 80 + 190 * part];

test('a movement is straight where each of its places is on a line that is no axis', () =>
  expectRows<[string, Path, object, Partial<ReturnType<typeof judged>>]>(
    [
      ['at one speed', line, {}, { strokes: 1, straight: 1 }],
      ['slower at both ends', (part) => line((1 - Math.cos(Math.PI * part)) / 2), {}, { strokes: 1, straight: 1 }],
      ['in whole pixels', (part) => [Math.round(line(part)[0]), Math.round(line(part)[1])], {}, { straight: 1 }],
      ['bent by four pixels', (part) => [line(part)[0] + 4 * Math.sin(3 * part), line(part)[1]], {}, { straight: 0 }],
      ['along an axis', (part) => [100 + 300 * part, 80], {}, { strokes: 0, straight: 0 }],
      ['too short to tell', (part) => [100 + 25 * part, 80 + 25 * part], {}, { strokes: 0, straight: 0 }],
      ['in a single leap', line, { moves: 1 }, { strokes: 0, straight: 0 }],
      ['with a pause before each place', line, { everyMs: 400 }, { strokes: 0, straight: 0 }],
    ],
    ([, path, pace, expected]) => expect(judged(path, pace)).toMatchObject(expected),
  ));

test('counts once what was reported', () => {
  const hands = new HandUse();
  hands.take();
  expect(hands.take()).toEqual({ presses: 0, centred: 0, strokes: 0, straight: 0, entries: 0, keyless: 0 });
});
