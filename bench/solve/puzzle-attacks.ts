/** Programs against "move the circle onto the same shape" without training. A plain figure or a single gap would give itself away to them. */
import type { PuzzleTask } from '../../src/contract/captcha/challenge-api.ts';
import type { Attack } from './attack.ts';
import { blurred, type Plane, plane, slopes, type View, viewOf } from './vision/plane.ts';
import { overThreshold, type Segment, segments } from './vision/segments.ts';

interface Seen {
  board: View;
  piece: View;
  /** Of the piece in its own picture, pixels. */
  middle: number;
}

const STEP_PX = 3;
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
  looking('content of the piece, correlated', ({ board, piece, middle }) =>
    correlated(piece.light, board.light, middle),
  ),
  looking('edges of the piece, correlated', ({ board, piece, middle }) =>
    correlated(steepness(piece), steepness(board), middle),
  ),
  looking('threshold, moments like the piece', bySegments),
];

/** `prepare` returns the score of a place for the middle of the piece; the best place is the solution. */
function looking(name: string, prepare: (seen: Seen) => (x: number, y: number) => number): Attack<'puzzle'> {
  return {
    name,
    solve(task) {
      const seen = seenIn(task);
      const score = prepare(seen);
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
function correlated(part: Plane, whole: Plane, middle: number): (x: number, y: number) => number {
  const points: { dx: number; dy: number; value: number }[] = [];
  for (let dy = -OUTLINE_REACH_PX; dy <= OUTLINE_REACH_PX; dy += 2) {
    for (let dx = -OUTLINE_REACH_PX; dx <= OUTLINE_REACH_PX; dx += 2) {
      if (Math.hypot(dx, dy) > OUTLINE_REACH_PX) continue;
      points.push({ dx, dy, value: part.values[(middle + dy) * part.width + middle + dx]! });
    }
  }
  const mean = points.reduce((sum, { value }) => sum + value, 0) / points.length;
  return (x, y) => {
    const sums = { value: 0, square: 0, product: 0 };
    for (const { dx, dy, value } of points) {
      const there = whole.values[(y + dy) * whole.width + x + dx]!;
      sums.value += there;
      sums.square += there * there;
      sums.product += there * (value - mean);
    }
    return sums.product / Math.sqrt(sums.square - sums.value ** 2 / points.length + 1e-6);
  };
}

/** How steep the light is: high on edges. */
function steepness({ light }: View): Plane {
  const { x, y } = slopes(blurred(light, 2));
  return plane(light.width, light.height, (at) => Math.hypot(x.values[at]!, y.values[at]!));
}

/** The piece of the board whose moments are nearest to those of the largest piece of the piece. */
function bySegments({ board, piece }: Seen): (x: number, y: number) => number {
  const cut = ({ light }: View): Segment[] => segments(overThreshold(blurred(light, 2)), light.width, FIGURE_PX);
  const own = cut(piece).toSorted((a, b) => b.pixels.length - a.pixels.length)[0];
  const places = cut(board).map(({ pixels, moments }) => ({
    x: pixels.reduce((sum, at) => sum + (at % board.light.width), 0) / pixels.length,
    y: pixels.reduce((sum, at) => sum + Math.floor(at / board.light.width), 0) / pixels.length,
    distance: own === undefined ? 0 : Math.hypot(...moments.map((value, index) => value - own.moments[index]!)),
  }));
  const best = places.toSorted((a, b) => a.distance - b.distance)[0];
  return (x, y) => (best === undefined ? 0 : -Math.hypot(x - best.x, y - best.y));
}
