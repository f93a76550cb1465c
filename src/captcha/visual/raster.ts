/**
 * Pictures as 4-bit palette indexes in a fixed number of bytes, so that the size reveals nothing about the content. The
 * sixteen colours are two ramps of eight, ground and figure, far enough apart in lightness for people who see no colour
 * (WCAG 2.2, 1.4.11).
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { DrawRandom } from './draw-random.ts';
import type { Picture } from '../../contract/captcha/challenge-api.ts';

export const RAMP = 8;
/** First index of the figure's ramp. */
export const FIGURE = 8;

export class Raster {
  readonly width: number;
  readonly height: number;
  /** One index a byte. */
  readonly pixels: Uint8Array<ArrayBuffer>;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height);
  }

  picture(palette: Uint8Array): Picture {
    const packed = new Uint8Array(Math.ceil(this.pixels.length / 2));
    for (let index = 0; index < packed.length; index++) {
      packed[index] = (this.pixels[index * 2]! << 4) | (this.pixels[index * 2 + 1] ?? 0);
    }
    return {
      width: this.width,
      height: this.height,
      palette: encodeBase64url(palette),
      pixels: encodeBase64url(packed),
    };
  }
}

/** A palette of a dark and a light ramp. Which of them is the ground is random. */
export function twoRamps(random: DrawRandom): Uint8Array<ArrayBuffer> {
  const dark = ramp(random, 18, 38);
  const light = ramp(random, 66, 90);
  const palette = new Uint8Array(48);
  const darkGround = random.next() < 0.5;
  palette.set(darkGround ? dark : light);
  palette.set(darkGround ? light : dark, 24);
  return palette;
}

/** Sixteen shades of one hue, darkest first, for pictures that darken and brighten their ground. */
export function oneRamp(random: DrawRandom): Uint8Array<ArrayBuffer> {
  const palette = new Uint8Array(48);
  const hue = random.next() * 360;
  const turn = random.between(-60, 60);
  for (let index = 0; index < 16; index++) {
    palette.set(rgb(hue + (turn * index) / 15, random.between(28, 55), 8 + (84 * index) / 15), index * 3);
  }
  return palette;
}

function ramp(random: DrawRandom, from: number, to: number): Uint8Array {
  const hue = random.next() * 360;
  const turn = random.between(-70, 70);
  const colours = new Uint8Array(24);
  for (let index = 0; index < RAMP; index++) {
    const share = index / (RAMP - 1);
    colours.set(rgb(hue + turn * share, random.between(25, 70), from + (to - from) * share), index * 3);
  }
  return colours;
}

/** CSS hsl(); hue in degrees, the rest in percent. */
function rgb(hue: number, saturation: number, lightness: number): [number, number, number] {
  const l = lightness / 100;
  const chroma = (saturation / 100) * Math.min(l, 1 - l);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return Math.round(255 * (l - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}
