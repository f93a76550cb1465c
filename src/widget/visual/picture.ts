/**
 * Draws the service's raw pictures (palette and 4-bit pixels) on a canvas. Without an image element or a `data:`
 * address, the page's CSP needs no `img-src`.
 */
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { Picture } from '../../contract/captcha/challenge-api.ts';
import { CaptchaError } from '../token/captcha-error.ts';

/** Larger than any picture of the service. Stops a wrong response from allocating gigabytes. */
const SIDE_MAX_PX = 2048;

/** `transparent`: colour 0 of the palette is transparent. */
export function decodePicture(picture: Picture, transparent: boolean): ImageData {
  const { width, height } = picture;
  const palette = decodeBase64url(picture.palette);
  const pixels = decodeBase64url(picture.pixels);
  const rowBytes = Math.ceil(width / 2);
  const isSane = width > 0 && height > 0 && width <= SIDE_MAX_PX && height <= SIDE_MAX_PX;
  if (!isSane || palette?.length !== 48 || pixels === null || pixels.length < rowBytes * height)
    throw new CaptchaError('unsupported', 'picture');
  const image = new ImageData(width, height);
  for (let y = 0, out = 0; y < height; y++) {
    for (let x = 0; x < width; x++, out += 4) {
      const pair = pixels[y * rowBytes + (x >> 1)]!;
      const index = (x & 1) === 0 ? pair >> 4 : pair & 15;
      image.data[out] = palette[index * 3]!;
      image.data[out + 1] = palette[index * 3 + 1]!;
      image.data[out + 2] = palette[index * 3 + 2]!;
      image.data[out + 3] = transparent && index === 0 ? 0 : 255;
    }
  }
  return image;
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
