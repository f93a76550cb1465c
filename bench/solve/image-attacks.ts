/**
 * Programs against "choose all pictures that show a …". Those that look score every shape on every tile, and learn from
 * rounds that they draw themselves how high each score is by chance.
 */
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { drawImageTask, IMAGE_BEND } from '../../src/captcha/visual/image/image-task.ts';
import { anotherShape } from '../../src/captcha/visual/derive-answer.ts';
import { shapeNames, type ImageTask, type ShapeName } from '../../src/contract/captcha/challenge-api.ts';
import type { Attack } from './attack.ts';
import { boundaries, normalised, together, type Boundary } from './vision/boundary.ts';
import { blurred, plane, product, slopes, type Plane, type View, viewOf } from './vision/plane.ts';
import { clusters, likeness, overThreshold, segments } from './vision/segments.ts';
import { bestFit, library } from './vision/templates.ts';

/** For each tile, how much it looks like each of `shapeNames`. */
type Scorer = (tile: View) => number[];

const PRACTICE_ROUNDS = 12;
const TEMPLATES_PER_SHAPE = 60;
const RADIUS_PX = [39, 45] as const;
/** Pixels of a figure, least and most. */
const FIGURE_PX = [900, 6500] as const;

export const imageAttacks: readonly Attack<'image'>[] = [
  { name: 'always the same three tiles', solve: () => ({ selected: [0, 4, 8] }) },
  {
    name: 'every tile',
    solve: ({ columns, rows }) => ({ selected: Array.from({ length: columns * rows }, (_, at) => at) }),
  },
  looking(
    'threshold, pieces, moments',
    bySegments(({ light }) => [overThreshold(light)]),
  ),
  looking(
    'threshold of light less blurred light, moments',
    bySegments(({ light }) => [overThreshold(detail(light))]),
  ),
  looking(
    'clusters of light and colour, moments',
    bySegments(({ light, blue, red }) => [2, 4, 6].map((count) => clusters([blurred(light, 1.5), blue, red], count))),
  ),
  looking(
    'clusters of pattern, moments',
    bySegments((view) => [2, 4].map((count) => clusters(patternOf(view), count))),
  ),
  looking('edges, templates', byTemplates(boundaries.edges)),
  looking('soft edges, templates', byTemplates(boundaries['soft edges'])),
  looking('light, templates', byTemplates(boundaries.light)),
  looking('colour, templates', byTemplates(boundaries.colour)),
  looking('pattern direction, templates', byTemplates(boundaries['pattern direction'])),
  looking('pattern strength, templates', byTemplates(boundaries['pattern strength'])),
  looking('variance, templates', byTemplates(boundaries.variance)),
  looking(
    'light, colour and edges together, templates',
    byTemplates(together([boundaries['soft edges'], boundaries.light, boundaries.colour])),
  ),
  looking('all together, templates', byTemplates(together(Object.values(boundaries)))),
];

function looking(name: string, scorer: () => Scorer): Attack<'image'> {
  let prepared: { score: Scorer; usual: number[]; threshold: number } | undefined;
  return {
    name,
    solve(task) {
      prepared ??= practised(scorer());
      const { score, usual, threshold } = prepared;
      const selected = tilesOf(task).flatMap((tile, index) =>
        lead(score(tile), usual, task.shape) > threshold ? [index] : [],
      );
      return { selected };
    },
  };
}

/** Learns the usual score of each shape, and from which lead on a tile is more often right than wrong. */
function practised(score: Scorer): { score: Scorer; usual: number[]; threshold: number } {
  const random = drawRandom(crypto.getRandomValues(new Uint8Array(32)));
  const practice = Array.from({ length: PRACTICE_ROUNDS }, () => {
    const shape = shapeNames[random.bits() % shapeNames.length]!;
    const tiles = Array.from({ length: 9 }, () =>
      random.next() < 0.5 ? shape : anotherShape(shape, random.bits() & 255),
    );
    const drawn = tilesOf(drawImageTask({ shape, tiles }, random, 0, 2));
    return drawn.map((tile, index) => ({ shape, isRight: tiles[index] === shape, scores: score(tile) }));
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
  return { score, usual, threshold };
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

function byTemplates(boundary: Boundary): () => Scorer {
  return () => {
    const templates = library(TEMPLATES_PER_SHAPE, RADIUS_PX, IMAGE_BEND);
    return (tile) => {
      const maps = normalised(boundary(tile));
      const best = new Map<ShapeName, number>();
      const around = { x: tile.light.width / 2, y: tile.light.height / 2, reach: 12, step: 3 };
      for (const template of templates) {
        best.set(template.shape, Math.max(best.get(template.shape) ?? -Infinity, bestFit(template, maps, around)));
      }
      return shapeNames.map((shape) => best.get(shape)!);
    };
  };
}

/** The piece that is most like each shape, of all ways to cut the tile. */
function bySegments(cuts: (tile: View) => Uint8Array[]): () => Scorer {
  return () => (tile) => {
    const found = cuts(tile).flatMap((labels) => segments(labels, tile.light.width, FIGURE_PX).map(likeness));
    return shapeNames.map((_, index) => found.reduce((best, scores) => Math.max(best, scores[index]!), -5));
  };
}

function detail(light: Plane): Plane {
  const soft = blurred(light, 8);
  const sharp = blurred(light, 1.5);
  return plane(light.width, light.height, (at) => sharp.values[at]! - soft.values[at]!);
}

/** Strength of the pattern in four directions and two sizes. */
function patternOf({ light }: View): Plane[] {
  return [1, 2].flatMap((sigma) => {
    const { x, y } = slopes(blurred(light, sigma));
    return [0, 1, 2, 3].map((direction) => {
      const [cos, sin] = [Math.cos((direction * Math.PI) / 4), Math.sin((direction * Math.PI) / 4)];
      const along = plane(light.width, light.height, (at) => x.values[at]! * cos + y.values[at]! * sin);
      return blurred(product(along, along), 3);
    });
  });
}
