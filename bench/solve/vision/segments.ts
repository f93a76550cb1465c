/**
 * Cuts a picture into pieces: by a threshold, or by clusters of what each pixel and its surroundings look like. Pieces are
 * compared with drawn shapes by moments that do not change with place, size and turn (Hu, 1962).
 */
import { drawRandom } from '../../../src/captcha/visual/draw-random.ts';
import { outlineOf } from '../../../src/captcha/visual/drawing/outline.ts';
import { placed } from '../../../src/captcha/visual/drawing/placement.ts';
import { IMAGE_BEND } from '../../../src/captcha/visual/image/image-task.ts';
import { RegionMeasure } from '../../../src/captcha/visual/drawing/region.ts';
import { shapeNames } from '../../../src/contract/captcha/challenge-api.ts';
import type { Plane } from './plane.ts';

export interface Segment {
  /** Pixels as row × width + column. */
  pixels: number[];
  moments: number[];
}

const PROTOTYPES_PER_SHAPE = 60;

/** Otsu's threshold: the two classes differ as much as possible. */
export function overThreshold({ values }: Plane): Uint8Array {
  const sorted = Float32Array.from(values).toSorted();
  const total = sorted.reduce((sum, value) => sum + value, 0);
  let best = { spread: -1, threshold: 0 };
  for (let at = 1, below = 0; at < sorted.length; at++) {
    below += sorted[at - 1]!;
    const difference = below / at - (total - below) / (sorted.length - at);
    const spread = at * (sorted.length - at) * difference * difference;
    if (spread > best.spread) best = { spread, threshold: sorted[at]! };
  }
  return Uint8Array.from(values, (value) => (value >= best.threshold ? 1 : 0));
}

/** Connected pieces of one label that hardly touch the border and have the size of a figure, `area` in pixels. */
export function segments(labels: Uint8Array, width: number, area: readonly [number, number]): Segment[] {
  const height = labels.length / width;
  const seen = new Uint8Array(labels.length);
  const found: Segment[] = [];
  for (let start = 0; start < labels.length; start++) {
    if (seen[start] === 1) continue;
    const pixels = [start];
    let border = 0;
    seen[start] = 1;
    for (let index = 0; index < pixels.length; index++) {
      const at = pixels[index]!;
      const [x, y] = [at % width, Math.floor(at / width)];
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) border++;
      for (const [dx, dy] of [
        [1, 0],
        [-1, 0],
        [0, 1],
        [0, -1],
      ] as const) {
        const next = at + dy * width + dx;
        if (x + dx < 0 || x + dx >= width || next < 0 || next >= labels.length) continue;
        if (seen[next] === 1 || labels[next] !== labels[start]) continue;
        seen[next] = 1;
        pixels.push(next);
      }
    }
    const isFigure = pixels.length >= area[0] && pixels.length <= area[1] && border < 4;
    if (isFigure) found.push({ pixels, moments: moments(pixels, width) });
  }
  return found;
}

/** How like each of the shapes: the negative distance to the nearest drawn example, in the order of `shapeNames`. */
export function likeness(segment: Segment): number[] {
  return prototypes().map((examples) =>
    examples.reduce((best, example) => {
      const distance = Math.hypot(...example.map((value, index) => value - segment.moments[index]!));
      return Math.max(best, -distance);
    }, -Infinity),
  );
}

let drawn: number[][][] | undefined;

function prototypes(): number[][][] {
  const random = drawRandom(crypto.getRandomValues(new Uint8Array(32)));
  drawn ??= shapeNames.map((shape) =>
    Array.from({ length: PROTOTYPES_PER_SHAPE }, () => {
      const at = { centreX: 60, centreY: 60, radius: 36, angle: random.next() * 2 * Math.PI, bend: IMAGE_BEND };
      const region = new RegionMeasure(120, 120).regionOf(placed(outlineOf(shape, random), at, random));
      const pixels = Array.from(region.distances.keys()).filter((index) => region.distances[index]! > 0);
      return moments(pixels, region.width);
    }),
  );
  return drawn;
}

/** Hu's first four, on a logarithmic scale. */
function moments(pixels: readonly number[], width: number): number[] {
  const area = pixels.length;
  let [centreX, centreY] = [0, 0];
  for (const at of pixels) {
    centreX += (at % width) / area;
    centreY += Math.floor(at / width) / area;
  }
  let [xx, xy, yy, xxx, xxy, xyy, yyy] = [0, 0, 0, 0, 0, 0, 0];
  for (const at of pixels) {
    const x = (at % width) - centreX;
    const y = Math.floor(at / width) - centreY;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xxx += x * x * x;
    xxy += x * x * y;
    xyy += x * y * y;
    yyy += y * y * y;
  }
  const [second, third] = [area ** 2, area ** 2.5];
  const hu = [
    (xx + yy) / second,
    ((xx - yy) ** 2 + 4 * xy ** 2) / second ** 2,
    ((xxx - 3 * xyy) ** 2 + (3 * xxy - yyy) ** 2) / third ** 2,
    ((xxx + xyy) ** 2 + (xxy + yyy) ** 2) / third ** 2,
  ];
  return hu.map((value) => Math.log10(value + 1e-6));
}
