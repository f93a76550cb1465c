/** Regions of paths against an oracle that measures every pixel to every edge. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OutlinePath } from '../../../src/captcha/visual/drawing/outline.ts';
import { BAND_PX, RegionMeasure } from '../../../src/captcha/visual/drawing/region.ts';
import { runs } from '../../support/properties.ts';

const WIDTH = 41;
const HEIGHT = 29;

/** Corners on whole, half and odd pixels, inside the picture and far from it: upright, level and slanted edges. */
const coordinate = fc.oneof(
  fc.integer({ min: -6, max: 46 }),
  fc.integer({ min: -12, max: 92 }).map((half) => half / 2),
  fc.double({ min: -60, max: 100, noNaN: true }),
  fc.double({ min: -700, max: 700, noNaN: true }),
);
const path = fc
  .array(coordinate, { minLength: 6, maxLength: 24 })
  .map((given): OutlinePath => new Float32Array(given.slice(0, given.length - (given.length % 2))));

/** Of the nearest edge, as the measure rounds it. */
function distanceTo(corners: OutlinePath, x: number, y: number): number {
  let nearest = Infinity;
  forEachEdge(corners, (fromX, fromY, toX, toY) => {
    const [dx, dy] = [toX - fromX, toY - fromY];
    const share = ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy || 1);
    const along = Math.min(1, Math.max(0, share));
    nearest = Math.min(nearest, Math.hypot(x - fromX - along * dx, y - fromY - along * dy));
  });
  return nearest;
}

/** Even-odd: how many edges a ray to the left crosses. An edge at `x` itself is crossed. */
function isInside(corners: OutlinePath, x: number, y: number): boolean {
  let crossed = 0;
  forEachEdge(corners, (fromX, fromY, toX, toY) => {
    if (fromY < y === toY < y) return;
    if (fromX + ((y - fromY) / (toY - fromY)) * (toX - fromX) <= x) crossed++;
  });
  return crossed % 2 === 1;
}

function forEachEdge(
  corners: OutlinePath,
  visit: (fromX: number, fromY: number, toX: number, toY: number) => void,
): void {
  for (let index = 0; index < corners.length; index += 2) {
    const next = (index + 2) % corners.length;
    visit(corners[index]!, corners[index + 1]!, corners[next]!, corners[next + 1]!);
  }
}

/** Rounding may put a pixel that lies on an edge to either side of it. */
const ON_EDGE_PX = 1e-6;

test('a region has the right distance and side of every pixel, whatever was measured before', () => {
  const measure = new RegionMeasure(WIDTH, HEIGHT);
  fc.assert(
    fc.property(path, (corners) => {
      const { left, top, width, height, distances, spans } = measure.regionOf(corners);
      for (let y = 0; y < HEIGHT; y++) {
        for (let x = 0; x < WIDTH; x++) {
          const [column, row] = [x - left, y - top];
          const inBox = column >= 0 && row >= 0 && column < width && row < height;
          const inSpan = inBox && column >= spans[2 * row]! && column < spans[2 * row + 1]!;
          const found = inSpan ? distances[row * width + column]! : -BAND_PX;
          const right = Math.min(BAND_PX, distanceTo(corners, x, y));
          expect(Math.abs(found)).toBeCloseTo(right, 4);
          if (right > ON_EDGE_PX) expect(found > 0, `${x}, ${y}`).toBe(isInside(corners, x, y));
        }
      }
    }),
    { numRuns: runs(300) },
  );
});
