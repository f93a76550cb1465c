/**
 * The shapes that tasks draw: for each, whether a point of the unit square (−1…1, y downwards) lies inside. They are
 * formulas and not pictures, so there is no set of images that a bot could collect.
 */
import type { ShapeName } from '../../contract/captcha/challenge-api.ts';

type Inside = (x: number, y: number) => boolean;

/** The inner corners lie at this share of the radius. */
const STAR_INNER = 0.42;

const inside: Record<ShapeName, Inside> = {
  circle: (x, y) => x * x + y * y <= 0.81,
  square: (x, y) => Math.abs(x) <= 0.78 && Math.abs(y) <= 0.78,
  triangle: (x, y) => y <= 0.75 && y >= -0.95 + 1.9 * Math.abs(x),
  cross: (x, y) => (Math.abs(x) <= 0.3 && Math.abs(y) <= 0.95) || (Math.abs(y) <= 0.3 && Math.abs(x) <= 0.95),
  arrow: (x, y) =>
    (Math.abs(x) <= 0.27 && y >= -0.1 && y <= 0.95) ||
    (y <= 0.05 && y >= -0.95 + 1.3 * Math.abs(x) && Math.abs(x) <= 0.78),
  moon: (x, y) => x * x + y * y <= 0.86 && (x - 0.45) ** 2 + (y + 0.1) ** 2 > 0.52,
  heart: (x, y) => {
    const v = -1.15 * y + 0.22;
    const h = 1.2 * x;
    return (h * h + v * v - 0.72) ** 3 - h * h * v ** 3 * 1.4 <= 0;
  },
  star: (x, y) => {
    const radius = Math.hypot(x, y);
    const slice = (2 * Math.PI) / 5;
    const angle = Math.atan2(x, -y);
    const folded = Math.abs(angle - slice * Math.round(angle / slice));
    // The edge from the tip (angle 0) to the inner corner (half a slice), in polar form.
    const tip = 0.98;
    const corner = tip * STAR_INNER;
    const half = slice / 2;
    const edge = (tip * corner * Math.sin(half)) / (tip * Math.sin(folded) + corner * Math.sin(half - folded));
    return radius <= edge;
  },
};

export interface Placed {
  shape: ShapeName;
  centreX: number;
  centreY: number;
  /** Half the side of the unit square, pixels. */
  radius: number;
  /** Radians. */
  angle: number;
}

/** Tests pixels of a shape that was moved, scaled and turned. */
export function insideOf(placed: Placed): Inside {
  const test = inside[placed.shape];
  const cos = Math.cos(placed.angle) / placed.radius;
  const sin = Math.sin(placed.angle) / placed.radius;
  return (pixelX, pixelY) => {
    const dx = pixelX - placed.centreX;
    const dy = pixelY - placed.centreY;
    return test(dx * cos + dy * sin, dy * cos - dx * sin);
  };
}
