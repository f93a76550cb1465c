/** Planes of numbers that programs compute on: a picture's light and colours, and what filters make of them. */
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import { COLOUR_STEP_PX, type Picture } from '../../../src/contract/captcha/challenge-api.ts';

export interface Plane {
  width: number;
  height: number;
  /** Row by row. */
  values: Float32Array;
}

/** What a program sees of a tile, a board or a piece. */
export interface View {
  light: Plane;
  blue: Plane;
  red: Plane;
}

export function plane(width: number, height: number, value: (at: number, x: number, y: number) => number): Plane {
  const values = new Float32Array(width * height);
  for (let y = 0, at = 0; y < height; y++) for (let x = 0; x < width; x++, at++) values[at] = value(at, x, y);
  return { width, height, values };
}

/** The part of a picture that starts at `left`, `top`, with its colours at full size. */
export function viewOf(picture: Picture, left: number, top: number, width: number, height: number): View {
  const light = decodeBase64url(picture.light)!;
  const colour = decodeBase64url(picture.colour)!;
  const columns = Math.ceil(picture.width / COLOUR_STEP_PX);
  const hue = (from: number): Plane =>
    blurred(
      plane(width, height, (_, x, y) => {
        const [column, row] = [Math.floor((left + x) / COLOUR_STEP_PX), Math.floor((top + y) / COLOUR_STEP_PX)];
        return colour[from + row * columns + column]! - 128;
      }),
      1.5,
    );
  return {
    light: plane(width, height, (_, x, y) => light[(top + y) * picture.width + left + x]!),
    blue: hue(0),
    red: hue(colour.length / 2),
  };
}

export function blurred(source: Plane, sigma: number): Plane {
  const { width, height } = source;
  const reach = Math.ceil(sigma * 2.5);
  const weights = Float32Array.from({ length: 2 * reach + 1 }, (_, at) =>
    Math.exp(-((at - reach) ** 2) / (2 * sigma ** 2)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const rows = new Float32Array(width * height);
  const values = new Float32Array(width * height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      let value = 0;
      for (let off = -reach; off <= reach; off++) {
        const column = x + off < 0 ? 0 : x + off >= width ? width - 1 : x + off;
        value += weights[off + reach]! * source.values[y * width + column]!;
      }
      rows[at] = value / sum;
    }
  }
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      let value = 0;
      for (let off = -reach; off <= reach; off++) {
        const row = y + off < 0 ? 0 : y + off >= height ? height - 1 : y + off;
        value += weights[off + reach]! * rows[row * width + x]!;
      }
      values[at] = value / sum;
    }
  }
  return { width, height, values };
}

/** Slopes to the right and downwards. */
export function slopes(source: Plane): { x: Plane; y: Plane } {
  const { width, height, values } = source;
  const inner = (x: number, y: number): boolean => x > 0 && y > 0 && x < width - 1 && y < height - 1;
  return {
    x: plane(width, height, (at, x, y) => (inner(x, y) ? (values[at + 1]! - values[at - 1]!) / 2 : 0)),
    y: plane(width, height, (at, x, y) => (inner(x, y) ? (values[at + width]! - values[at - width]!) / 2 : 0)),
  };
}
