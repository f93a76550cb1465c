/**
 * Programs against "choose all pictures that show a …" without training: guesses, and one that a palette or a plain figure
 * would give the answer to. It learns from rounds that it draws itself how high each score is by chance.
 */
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { drawImageTask } from '../../src/captcha/visual/image/image-task.ts';
import { anotherShape } from '../../src/captcha/visual/derive-answer.ts';
import { shapeNames, type ImageTask, type ShapeName } from '../../src/contract/captcha/challenge-api.ts';
import type { Attack } from './attack.ts';
import { type View, viewOf } from './vision/plane.ts';
import { likeness, overThreshold, segments } from './vision/segments.ts';

const PRACTICE_ROUNDS = 12;
/** Pixels of a figure, least and most. */
const FIGURE_PX = [900, 6500] as const;

export const imageAttacks: readonly Attack<'image'>[] = [
  { name: 'always the same three tiles', solve: () => ({ selected: [0, 4, 8] }) },
  {
    name: 'every tile',
    solve: ({ columns, rows }) => ({ selected: Array.from({ length: columns * rows }, (_, at) => at) }),
  },
  bySegments('threshold, pieces, moments'),
];

function bySegments(name: string): Attack<'image'> {
  let prepared: { usual: number[]; threshold: number } | undefined;
  return {
    name,
    solve(task) {
      const { usual, threshold } = (prepared ??= practised());
      const selected = tilesOf(task).flatMap((tile, index) =>
        lead(scoresOf(tile), usual, task.shape) > threshold ? [index] : [],
      );
      return { selected };
    },
  };
}

/** Learns the usual score of each shape, and from which lead on a tile is more often right than wrong. */
function practised(): { usual: number[]; threshold: number } {
  const random = drawRandom(crypto.getRandomValues(new Uint8Array(32)));
  const practice = Array.from({ length: PRACTICE_ROUNDS }, () => {
    const shape = shapeNames[random.bits() % shapeNames.length]!;
    const tiles = Array.from({ length: 9 }, () =>
      random.next() < 0.5 ? shape : anotherShape(shape, random.bits() & 255),
    );
    const drawn = tilesOf(drawImageTask({ shape, tiles }, random, 0, 2));
    return drawn.map((tile, index) => ({ shape, isRight: tiles[index] === shape, scores: scoresOf(tile) }));
  }).flat();
  const usual = shapeNames.map(
    (_, index) => practice.reduce((sum, { scores }) => sum + scores[index]!, 0) / practice.length,
  );
  const leads = practice.map(({ scores, shape, isRight }) => ({ value: lead(scores, usual, shape), isRight }));
  const right = (threshold: number): number =>
    leads.filter(({ value, isRight }) => value > threshold === isRight).length;
  const threshold = leads
    .map(({ value }) => value)
    .reduce((best, value) => (right(value) > right(best) ? value : best));
  return { usual, threshold };
}

/** How far the shape is ahead of all others. */
function lead(scores: readonly number[], usual: readonly number[], shape: ShapeName): number {
  const above = scores.map((score, index) => score - usual[index]!);
  const wanted = shapeNames.indexOf(shape);
  return above[wanted]! - Math.max(...above.filter((_, index) => index !== wanted));
}

function tilesOf({ picture, columns, rows }: ImageTask): View[] {
  const [width, height] = [picture.width / columns, picture.height / rows];
  return Array.from({ length: columns * rows }, (_, index) =>
    viewOf(picture, (index % columns) * width, Math.floor(index / columns) * height, width, height),
  );
}

/** How much the tile looks like each of `shapeNames`: the piece over the threshold of light that is most like it. */
function scoresOf({ light }: View): number[] {
  const found = segments(overThreshold(light), light.width, FIGURE_PX).map(likeness);
  return shapeNames.map((_, index) => found.reduce((best, scores) => Math.max(best, scores[index]!), -5));
}
