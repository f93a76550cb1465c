/**
 * A library of outlines, made with the service's own drawing code, and how well each lies on the boundaries of a picture.
 * The outline of a task is never in it, but many are near.
 */
import { drawRandom } from '../../../src/captcha/visual/draw-random.ts';
import { outlineOf, type OutlinePath } from '../../../src/captcha/visual/drawing/outline.ts';
import { placed } from '../../../src/captcha/visual/drawing/placement.ts';
import { type ShapeName, shapeNames } from '../../../src/contract/captcha/challenge-api.ts';
import { DIRECTIONS } from './boundary.ts';
import type { Plane } from './plane.ts';

/** Between two points of an outline. */
const POINT_PX = 4;
/** An outline that leaves the picture. */
const OUTSIDE = -0.5;
/** Long outlines have more points and so a larger sum by chance. Between a sum (0) and a mean (1). */
const LENGTH_POWER = 0.65;

export interface Template {
  shape: ShapeName;
  /** x, y from the centre and the direction across the edge, in turn. */
  points: Int16Array;
}

export function library(perShape: number, radius: readonly [number, number], bend: number): Template[] {
  const random = drawRandom(crypto.getRandomValues(new Uint8Array(32)));
  return shapeNames.flatMap((shape) =>
    Array.from({ length: perShape }, () => {
      const at = {
        centreX: 0,
        centreY: 0,
        radius: random.between(...radius),
        angle: random.next() * 2 * Math.PI,
        bend,
      };
      return { shape, points: pointsOn(placed(outlineOf(shape, random), at, random)) };
    }),
  );
}

/** How well the template lies on the boundaries with its centre at x, y. */
export function fit({ points }: Template, maps: readonly Plane[], x: number, y: number): number {
  const { width, height } = maps[0]!;
  let sum = 0;
  for (let at = 0; at < points.length; at += 3) {
    const [column, row] = [x + points[at]!, y + points[at + 1]!];
    const inside = column >= 0 && row >= 0 && column < width && row < height;
    sum += inside ? maps[points[at + 2]!]!.values[row * width + column]! : OUTSIDE;
  }
  return sum / (points.length / 3) ** LENGTH_POWER;
}

/** The best fit with the centre at most `reach` pixels from x, y. */
export function bestFit(
  template: Template,
  maps: readonly Plane[],
  around: { x: number; y: number; reach: number; step: number },
): number {
  let best = -Infinity;
  for (let y = around.y - around.reach; y <= around.y + around.reach; y += around.step) {
    for (let x = around.x - around.reach; x <= around.x + around.reach; x += around.step) {
      best = Math.max(best, fit(template, maps, x, y));
    }
  }
  return best;
}

function pointsOn(path: OutlinePath): Int16Array {
  const points: number[] = [];
  let start = 0;
  for (let index = 0; index < path.length; index += 2) {
    const [x, y] = [path[index]!, path[index + 1]!];
    const dx = path[(index + 2) % path.length]! - x;
    const dy = path[(index + 3) % path.length]! - y;
    const length = Math.hypot(dx, dy);
    const across = Math.round(((Math.atan2(dy, dx) + Math.PI / 2) / Math.PI) * DIRECTIONS + 4 * DIRECTIONS);
    let at = start;
    for (; at < length; at += POINT_PX) {
      points.push(Math.round(x + (dx * at) / length), Math.round(y + (dy * at) / length), across % DIRECTIONS);
    }
    start = at - length;
  }
  return Int16Array.from(points);
}
