/**
 * Draws the service's raw pictures (a plane of light, two coarser planes of colour) on a canvas. Without an image element
 * or a `data:` address, the page's CSP needs no `img-src`.
 */
import { decodeBase64url } from '../../bytes/base64url.ts';
import { COLOUR_STEP_PX, type Picture } from '../../contract/captcha/challenge-api.ts';
import { CaptchaError } from '../token/captcha-error.ts';

/** Larger than any picture of the service. Stops a wrong response from allocating gigabytes. */
const SIDE_MAX_PX = 2048;

/** @throws CaptchaError where the planes do not have the size that the picture says. */
export function decodePicture(picture: Picture): ImageData {
  const { width, height } = picture;
  const light = decodeBase64url(picture.light);
  const colour = decodeBase64url(picture.colour);
  const columns = Math.ceil(width / COLOUR_STEP_PX);
  const rows = Math.ceil(height / COLOUR_STEP_PX);
  const isSane = width > 0 && height > 0 && width <= SIDE_MAX_PX && height <= SIDE_MAX_PX;
  if (!isSane || light?.length !== width * height || colour?.length !== 2 * columns * rows)
    throw new CaptchaError('unsupported', 'picture');
  const blue = smooth(colour.subarray(0, columns * rows), columns, rows);
  const red = smooth(colour.subarray(columns * rows), columns, rows);
  const image = new ImageData(width, height);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const [value, toBlue, toRed] = [light[at]!, blue(x, y), red(x, y)];
      // ITU-R BT.601. The array clamps and rounds.
      image.data[4 * at] = value + 1.402 * toRed;
      image.data[4 * at + 1] = value - 0.344 * toBlue - 0.714 * toRed;
      image.data[4 * at + 2] = value + 1.772 * toBlue;
      image.data[4 * at + 3] = value === 0 ? 0 : 255;
    }
  }
  return image;
}

/** The plane at full size, between the middles of its steps, −128 to 127. */
function smooth(plane: Uint8Array, columns: number, rows: number): (x: number, y: number) => number {
  return (x, y) => {
    const column = within(columns, (x + 0.5) / COLOUR_STEP_PX - 0.5);
    const row = within(rows, (y + 0.5) / COLOUR_STEP_PX - 0.5);
    const [left, top] = [Math.floor(column), Math.floor(row)];
    const [right, bottom] = [Math.min(columns - 1, left + 1), Math.min(rows - 1, top + 1)];
    const upper = mix(plane[top * columns + left]!, plane[top * columns + right]!, column - left);
    const lower = mix(plane[bottom * columns + left]!, plane[bottom * columns + right]!, column - left);
    return mix(upper, lower, row - top) - 128;
  };
}

/** `at`, but not before the first or after the last of `count`. */
function within(count: number, at: number): number {
  return Math.min(count - 1, Math.max(0, at));
}

function mix(from: number, to: number, share: number): number {
  return from + (to - from) * share;
}

/** A canvas with the part of the picture that starts at `left`, `top`. */
export function pictureCanvas(
  image: ImageData,
  left: number,
  top: number,
  width: number,
  height: number,
): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')?.putImageData(image, -left, -top);
  return canvas;
}
