/**
 * Outlines of the shapes as closed paths in the unit square (−1…1, y downwards). Every call draws another one: other
 * proportions, another number of points of a star, another thickness of a moon. A program cannot collect them.
 */
import type { ShapeName } from '../../../contract/captcha/challenge-api.ts';
import type { DrawRandom } from '../draw-random.ts';

/** x and y of each corner in turn. */
export type OutlinePath = Float32Array<ArrayBuffer>;

/** Longest straight piece, so that a warp bends edges and not only corners. */
const STEP = 0.14;

const outlines: Record<ShapeName, (random: DrawRandom) => number[]> = {
  circle: (random) => {
    const [wave, phase] = [random.between(0, 0.05), random.next() * 7];
    return polar(44, (_, angle) => 0.88 + wave * Math.sin(2 * angle + phase));
  },
  square: (random) => {
    const corner = (): number => random.between(0.74, 0.88);
    return [-corner(), -corner(), corner(), -corner(), corner(), corner(), -corner(), corner()];
  },
  triangle: (random) => {
    const at = [0, 1, 2].map((index) => (index / 3) * 2 * Math.PI + random.between(-0.3, 0.3));
    return at.flatMap((angle) => {
      const radius = random.between(0.85, 1.15);
      return [radius * Math.sin(angle), -radius * Math.cos(angle)];
    });
  },
  star: (random) => {
    const points = 5 + Math.floor(random.next() * 2);
    const path: number[] = [];
    const inner = random.between(0.34, 0.48);
    for (let index = 0; index < points; index++) {
      const tip = ((index + random.between(-0.17, 0.17)) / points) * 2 * Math.PI;
      const notch = ((index + 0.5 + random.between(-0.08, 0.08)) / points) * 2 * Math.PI;
      const length = random.between(0.92, 1.12);
      path.push(length * Math.sin(tip), -length * Math.cos(tip));
      path.push(inner * Math.sin(notch), -inner * Math.cos(notch));
    }
    return path;
  },
  heart: (random) => {
    const [left, right] = [random.between(0.75, 1.05), random.between(0.75, 1.05)];
    const depth = random.between(0.85, 1.2);
    const lean = random.between(-0.2, 0.2);
    const path: number[] = [];
    for (let index = 0; index < 48; index++) {
      const t = (index / 48) * 2 * Math.PI;
      const y = 13 * Math.cos(t) - 5 * Math.cos(2 * t) - 2 * Math.cos(3 * t) - Math.cos(4 * t);
      const x = (Math.sin(t) < 0 ? left : right) * Math.sin(t) ** 3;
      const down = (-y / 16 - 0.15) * depth;
      path.push(x + lean * Math.max(0, down) ** 2, down);
    }
    return path;
  },
  moon: (random) => {
    const bow = random.between(1.5, 1.95);
    const thick = random.between(0.42, 0.6);
    // An arc that is thick in the middle and has pointed ends.
    return along(
      (share) => (share - 0.5) * 2 * bow,
      (share) => thick * Math.sin(Math.PI * share) ** 0.7,
      0.74,
    );
  },
  cross: (random) => {
    const path: number[] = [];
    const centre = [random.between(-0.12, 0.12), random.between(-0.12, 0.12)] as const;
    const turns = [0, 1, 2, 3].map((arm) => (arm * Math.PI) / 2 + random.between(-0.1, 0.1));
    const widths = turns.map(() => random.between(0.17, 0.3));
    for (const [arm, turn] of turns.entries()) {
      const length = random.between(0.85, 1.05);
      const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
      const half = widths[arm]!;
      for (const side of [-1, 1])
        path.push(centre[0] + length * sin + side * half * cos, centre[1] - length * cos + side * half * sin);
      const between = (turn + (turns[arm + 1] ?? turns[0]! + 2 * Math.PI)) / 2;
      const inner = (half + (widths[arm + 1] ?? widths[0]!)) * Math.SQRT1_2;
      path.push(centre[0] + inner * Math.sin(between), centre[1] - inner * Math.cos(between));
    }
    return path;
  },
  arrow: (random) => {
    const bow = random.between(-0.35, 0.35);
    const neck = random.between(0.5, 0.64);
    const shaft = random.between(0.16, 0.22);
    const head = random.between(0.58, 0.72);
    return arrow(bow, neck, shaft, head, random.between(-0.12, 0.06));
  },
};

/** A band of half the width `half` around an arc of `radius`, from one end to the other and back. */
function along(angle: (share: number) => number, half: (share: number) => number, radius: number): number[] {
  const path: number[] = [];
  for (let index = 0; index < 52; index++) {
    const share = index < 26 ? index / 26 : (52 - index) / 26;
    const from = radius + (index < 26 ? half(share) * 0.5 : -half(share) * 0.9);
    path.push(from * Math.cos(angle(share)), from * Math.sin(angle(share)));
  }
  return path;
}

/** Along a spine that bends by `bow` radians in all. */
function arrow(bow: number, neck: number, shaft: number, head: number, barb: number): number[] {
  const spine = (share: number): { x: number; y: number; turn: number } => {
    let [x, y] = [0, 0.95];
    const steps = 20;
    for (let index = 0; index < share * steps; index++) {
      const turn = ((index + 0.5) / steps - 0.5) * 2 * bow;
      x += (Math.sin(turn) * 1.95) / steps;
      y -= (Math.cos(turn) * 1.95) / steps;
    }
    return { x, y, turn: (share - 0.5) * 2 * bow };
  };
  const side = (share: number, off: number, back = 0): number[] => {
    const { x, y, turn } = spine(share);
    return [x + off * Math.cos(turn) - back * Math.sin(turn), y + off * Math.sin(turn) + back * Math.cos(turn)];
  };
  const up = [0, 0.2, 0.4, neck].flatMap((share) => side(share, shaft));
  const down = [neck, 0.4, 0.2, 0].flatMap((share) => side(share, -shaft));
  return [...up, ...side(neck, head, barb), ...side(1, 0), ...side(neck, -head, barb), ...down];
}

export function outlineOf(shape: ShapeName, random: DrawRandom): OutlinePath {
  return subdivided(outlines[shape](random), STEP);
}

/** `count` corners around the centre, the first at the top. */
function polar(count: number, radius: (index: number, angle: number) => number): number[] {
  const path: number[] = [];
  for (let index = 0; index < count; index++) {
    const angle = (index / count) * 2 * Math.PI;
    path.push(radius(index, angle) * Math.sin(angle), -radius(index, angle) * Math.cos(angle));
  }
  return path;
}

/** With corners so close that none of its edges is longer than `longest`. */
export function subdivided(corners: readonly number[], longest: number): OutlinePath {
  const path: number[] = [];
  for (let index = 0; index < corners.length; index += 2) {
    const [x, y] = [corners[index]!, corners[index + 1]!];
    const [toX, toY] = [corners[(index + 2) % corners.length]!, corners[(index + 3) % corners.length]!];
    const pieces = Math.max(1, Math.ceil(Math.hypot(toX - x, toY - y) / longest));
    for (let piece = 0; piece < pieces; piece++) {
      path.push(x + ((toX - x) * piece) / pieces, y + ((toY - y) * piece) / pieces);
    }
  }
  return new Float32Array(path);
}
