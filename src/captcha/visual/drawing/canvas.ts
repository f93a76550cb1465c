/**
 * The pixels of a picture on their way to the browser: a full plane of light, and two colour planes of a quarter of the
 * width and height, as video has them. No value stands for figure or ground, and the number of bytes depends on the size
 * alone.
 */
import { encodeLargeBase64url } from '../../../bytes/large-base64url.ts';
import { COLOUR_STEP_PX, type Picture } from '../../../contract/captcha/challenge-api.ts';

/** Light comes in 62 steps, 4 to 248: finer ones are lost in the grain and cost a quarter of the weight. 0 is nothing. */
const LIGHT_MIN = 4;
const LIGHT_MAX = 248;
const LIGHT_MASK = 0xfc;

interface Tint {
  /** Colour differences, −128 to 127 where they add up to a pixel's. */
  blue: number;
  red: number;
}

export class Canvas {
  readonly #width: number;
  readonly #height: number;
  readonly #columns: number;
  readonly #light: Uint8Array<ArrayBuffer>;
  /** Blue before red. */
  readonly #colour: Uint8Array<ArrayBuffer>;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#columns = Math.ceil(width / COLOUR_STEP_PX);
    this.#light = new Uint8Array(width * height);
    this.#colour = new Uint8Array(2 * this.#columns * Math.ceil(height / COLOUR_STEP_PX)).fill(128);
  }

  /** A row of tones from `left` on. */
  putLight(left: number, y: number, tones: Float64Array): void {
    const light = this.#light;
    const start = y * this.#width + left;
    for (let x = 0; x < tones.length; x++) light[start + x] = lightByte(tones[x]!);
  }

  /** The colour of all pixels of a step: that of its middle. */
  putColour(x: number, y: number, blue: number, red: number): void {
    const at = Math.floor(y / COLOUR_STEP_PX) * this.#columns + Math.floor(x / COLOUR_STEP_PX);
    this.#colour[at] = colourByte(blue);
    this.#colour[at + this.#colour.length / 2] = colourByte(red);
  }

  /** Fills all rows from `top` on, a multiple of `COLOUR_STEP_PX`. */
  fillBelow(top: number, tone: number, { blue, red }: Tint): void {
    this.#light.fill(lightByte(tone), top * this.#width);
    const [start, half] = [(top / COLOUR_STEP_PX) * this.#columns, this.#colour.length / 2];
    this.#colour.fill(colourByte(blue), start, half);
    this.#colour.fill(colourByte(red), start + half);
  }

  /** Makes all beyond `radius` around the centre transparent. */
  keepDisc(radius: number): void {
    const [centreX, centreY] = [(this.#width - 1) / 2, (this.#height - 1) / 2];
    for (let y = 0, at = 0; y < this.#height; y++) {
      for (let x = 0; x < this.#width; x++, at++) {
        if (Math.hypot(x - centreX, y - centreY) > radius) this.#light[at] = 0;
      }
    }
  }

  picture(): Picture {
    return {
      width: this.#width,
      height: this.#height,
      light: encodeLargeBase64url(this.#light),
      colour: encodeLargeBase64url(this.#colour),
    };
  }
}

function lightByte(tone: number): number {
  return Math.min(LIGHT_MAX, Math.max(LIGHT_MIN, tone)) & LIGHT_MASK;
}

function colourByte(difference: number): number {
  return Math.min(255, Math.max(0, 128 + difference));
}
