/** Programs against "move the circle onto the same shape". */
import { type PuzzleTask, shapeNames } from '../../src/contract/captcha/challenge-api.ts';
import { PUZZLE_BEND } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import type { Attack } from './attack.ts';
import { boundaries, type Boundary, normalised, together } from './vision/boundary.ts';
import { blurred, type Plane, type View, viewOf } from './vision/plane.ts';
import { clusters, overThreshold, type Segment, segments } from './vision/segments.ts';
import { bestFit, fit, library } from './vision/templates.ts';

interface Seen {
  board: View;
  piece: View;
  /** Of the piece in its own picture, pixels. */
  middle: number;
}

const STEP_PX = 3;
const TEMPLATES_PER_SHAPE = 60;
const RADIUS_PX = [24, 30] as const;
/** Outlines that the piece may show, tried on the whole board. */
const CANDIDATES = 24;
/** Pixels of an outline, least and most. */
const FIGURE_PX = [400, 3200] as const;
/** Of the outline on the piece around its middle. */
const OUTLINE_REACH_PX = 32;

export const puzzleAttacks: readonly Attack<'puzzle'>[] = [
  {
    name: 'the middle of the board',
    solve: ({ background, piece, originY }) => ({
      finalX: Math.round((background.width - piece.width) / 2),
      finalY: Math.round((Math.min(originY, background.height) - piece.height) / 2),
    }),
  },
  looking(
    'content of the piece, correlated',
    () =>
      ({ board, piece, middle }) =>
        correlated([piece.light], [board.light], middle),
  ),
  looking(
    'colours of the piece, correlated',
    () =>
      ({ board, piece, middle }) =>
        correlated([piece.blue, piece.red], [board.blue, board.red], middle),
  ),
  looking(
    'edges of the piece, correlated',
    () =>
      ({ board, piece, middle }) =>
        correlated(boundaries['soft edges'](piece), boundaries['soft edges'](board), middle),
  ),
  looking('all boundaries of the piece, correlated', () => {
    const all = together(Object.values(boundaries));
    return ({ board, piece, middle }) => correlated(all(piece), all(board), middle);
  }),
  looking('any opening, by templates', () => byTemplates(boundaries['soft edges'], false)),
  looking('edges, templates of the piece', () => byTemplates(boundaries['soft edges'], true)),
  looking('light, templates of the piece', () => byTemplates(boundaries.light, true)),
  looking('colour, templates of the piece', () => byTemplates(boundaries.colour, true)),
  looking('light, colour and edges together, templates of the piece', () =>
    byTemplates(together([boundaries['soft edges'], boundaries.light, boundaries.colour]), true),
  ),
  looking('threshold, moments like the piece', () => bySegments(({ light }) => [overThreshold(blurred(light, 2))])),
  looking('clusters of light and colour, moments like the piece', () =>
    bySegments(({ light, blue, red }) => [4, 8].map((count) => clusters([blurred(light, 1.5), blue, red], count))),
  ),
];

/** `score` of a place for the middle of the piece; the best place is the solution. */
function looking(name: string, prepare: () => (seen: Seen) => (x: number, y: number) => number): Attack<'puzzle'> {
  let prepared: ReturnType<typeof prepare> | undefined;
  return {
    name,
    solve(task) {
      prepared ??= prepare();
      const seen = seenIn(task);
      const score = prepared(seen);
      const { width, height } = seen.board.light;
      let best = { score: -Infinity, x: width / 2, y: height / 2 };
      for (let y = seen.middle; y <= height - seen.middle; y += STEP_PX) {
        for (let x = seen.middle; x <= width - seen.middle; x += STEP_PX) {
          const value = score(x, y);
          if (value > best.score) best = { score: value, x, y };
        }
      }
      return { finalX: best.x - seen.middle, finalY: best.y - seen.middle };
    },
  };
}

/** The tray begins where the piece waits. */
function seenIn({ background, piece, originY }: PuzzleTask): Seen {
  return {
    board: viewOf(background, 0, 0, background.width, Math.min(originY, background.height)),
    piece: viewOf(piece, 0, 0, piece.width, piece.height),
    middle: piece.width / 2,
  };
}

/** Normalised cross-correlation of the round middle of the piece. */
function correlated(
  parts: readonly Plane[],
  wholes: readonly Plane[],
  middle: number,
): (x: number, y: number) => number {
  const points: { part: number; dx: number; dy: number; value: number }[] = [];
  for (const [part, { width, values }] of parts.entries()) {
    for (let dy = -OUTLINE_REACH_PX; dy <= OUTLINE_REACH_PX; dy += 2) {
      for (let dx = -OUTLINE_REACH_PX; dx <= OUTLINE_REACH_PX; dx += 2) {
        if (Math.hypot(dx, dy) > OUTLINE_REACH_PX) continue;
        points.push({ part, dx, dy, value: values[(middle + dy) * width + middle + dx]! });
      }
    }
  }
  const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length;
  return (x, y) => {
    const sums = { value: 0, square: 0, product: 0 };
    for (const { part, dx, dy, value } of points) {
      const { width, values } = wholes[part]!;
      const there = values[(y + dy) * width + x + dx]!;
      sums.value += there;
      sums.square += there * there;
      sums.product += there * (value - mean);
    }
    return sums.product / Math.sqrt(sums.square - sums.value ** 2 / points.length + 1e-6);
  };
}

/** Outlines that lie well on the piece, on the board. `fromPiece: false`: any outline. */
function byTemplates(boundary: Boundary, fromPiece: boolean): (seen: Seen) => (x: number, y: number) => number {
  const templates = library(TEMPLATES_PER_SHAPE, RADIUS_PX, PUZZLE_BEND);
  return ({ board, piece, middle }) => {
    const onPiece = normalised(boundary(piece));
    const onBoard = normalised(boundary(board));
    const around = { x: middle, y: middle, reach: 4, step: 2 };
    const likely = templates
      .map((template) => ({ template, fit: fromPiece ? bestFit(template, onPiece, around) : 0 }))
      .toSorted((a, b) => b.fit - a.fit);
    const tried = fromPiece
      ? likely.slice(0, CANDIDATES)
      : likely.filter((_, index) => index % shapeNames.length === 0);
    return (x, y) => tried.reduce((best, one) => Math.max(best, one.fit + fit(one.template, onBoard, x, y)), -Infinity);
  };
}

/** The piece of the board whose moments are nearest to those of the largest piece of the piece. */
function bySegments(cuts: (view: View) => Uint8Array[]): (seen: Seen) => (x: number, y: number) => number {
  const cut = (view: View): Segment[] => cuts(view).flatMap((labels) => segments(labels, view.light.width, FIGURE_PX));
  return ({ board, piece }) => {
    const own = cut(piece).toSorted((a, b) => b.pixels.length - a.pixels.length)[0];
    const places = cut(board).map(({ pixels, moments }) => ({
      x: pixels.reduce((sum, at) => sum + (at % board.light.width), 0) / pixels.length,
      y: pixels.reduce((sum, at) => sum + Math.floor(at / board.light.width), 0) / pixels.length,
      distance: own === undefined ? 0 : Math.hypot(...moments.map((value, index) => value - own.moments[index]!)),
    }));
    const best = places.toSorted((a, b) => a.distance - b.distance)[0];
    return (x, y) => (best === undefined ? 0 : -Math.hypot(x - best.x, y - best.y));
  };
}
