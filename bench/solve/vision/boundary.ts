/**
 * Where a picture changes, and in which direction, by one property at a time: edges, light, colour, direction of the
 * pattern, its strength, its variance. A list of planes has one for each of eight directions across the edge.
 */
import { blurred, type Plane, plane, product, slopes, type View } from './plane.ts';

export const DIRECTIONS = 8;
/** Values beyond count alike, so that one bright line does not outweigh a whole outline. */
const STRONGEST = 4;
const WEAKEST = -1;

export type Boundary = (view: View) => Plane[];

export const boundaries = {
  edges: ({ light }) => edges(blurred(light, 1)),
  'soft edges': ({ light }) => edges(blurred(light, 2)),
  light: ({ light }) => contrast([blurred(light, 2.5)], 3),
  colour: ({ blue, red }) => contrast([blue, red], 3),
  'pattern direction': ({ light }) => {
    const { x, y } = slopes(blurred(light, 0.8));
    const [xx, yy, xy] = [product(x, x), product(y, y), product(x, y)].map((part) => blurred(part, 2.5)) as [
      Plane,
      Plane,
      Plane,
    ];
    const share = (value: (at: number) => number): Plane =>
      plane(light.width, light.height, (at) => value(at) / (xx.values[at]! + yy.values[at]! + 1));
    return contrast([share((at) => xx.values[at]! - yy.values[at]!), share((at) => 2 * xy.values[at]!)], 4);
  },
  'pattern strength': ({ light }) => {
    const { x, y } = slopes(light);
    const steep = plane(light.width, light.height, (at) => Math.hypot(x.values[at]!, y.values[at]!));
    return contrast([blurred(steep, 2.5)], 4);
  },
  variance: ({ light }) => {
    const [mean, square] = [blurred(light, 3), blurred(product(light, light), 3)];
    const spread = plane(light.width, light.height, (at) =>
      Math.sqrt(Math.max(0, square.values[at]! - mean.values[at]! ** 2)),
    );
    return contrast([spread], 4);
  },
} satisfies Record<string, Boundary>;

/** Several properties, each with the same weight. */
export function together(parts: readonly Boundary[]): Boundary {
  return (view) => {
    const maps = parts.map((part) => normalised(part(view)));
    return Array.from({ length: DIRECTIONS }, (_, direction) =>
      plane(view.light.width, view.light.height, (at) => {
        let sum = 0;
        for (const map of maps) sum += Math.max(WEAKEST, Math.min(STRONGEST, map[direction]!.values[at]!));
        return sum;
      }),
    );
  };
}

/** With mean 0 and deviation 1 over all directions. */
export function normalised(maps: readonly Plane[]): Plane[] {
  const sum = { count: 0, value: 0, square: 0 };
  for (const { values } of maps) {
    for (const value of values) {
      sum.count++;
      sum.value += value;
      sum.square += value * value;
    }
  }
  const mean = sum.value / sum.count;
  const deviation = Math.sqrt(sum.square / sum.count - mean * mean) || 1;
  return maps.map(({ width, height, values }) => plane(width, height, (at) => (values[at]! - mean) / deviation));
}

function edges(light: Plane): Plane[] {
  const { x, y } = slopes(light);
  return inDirections((cos, sin) =>
    plane(light.width, light.height, (at) => Math.abs(x.values[at]! * cos + y.values[at]! * sin)),
  );
}

/** How much the properties differ `distance` pixels on both sides. */
function contrast(properties: readonly Plane[], distance: number): Plane[] {
  const { width, height } = properties[0]!;
  return inDirections((cos, sin) => {
    const [dx, dy] = [Math.round(distance * cos), Math.round(distance * sin)];
    const step = dy * width + dx;
    return plane(width, height, (at, x, y) => {
      if (x <= distance || y <= distance || x >= width - distance - 1 || y >= height - distance - 1) return 0;
      let square = 0;
      for (const { values } of properties) square += (values[at + step]! - values[at - step]!) ** 2;
      return Math.sqrt(square);
    });
  });
}

function inDirections(map: (cos: number, sin: number) => Plane): Plane[] {
  return Array.from({ length: DIRECTIONS }, (_, direction) => {
    const angle = (direction * Math.PI) / DIRECTIONS;
    return map(Math.cos(angle), Math.sin(angle));
  });
}
