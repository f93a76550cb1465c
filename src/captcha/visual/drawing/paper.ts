/**
 * Papers that a collage is glued from: stripes, waves, checks or dots in two tones close to each other. Every paper of a
 * picture draws its pattern, tones and hue from the same ranges, so none of them marks the figure.
 */
import type { DrawRandom } from '../draw-random.ts';

/** Middle tones, of 0–255. Rims and shadows reach beyond. */
const TONE = [58, 200] as const;
/** Half the difference of a paper's two tones. */
const CONTRAST = [12, 34] as const;
const PERIOD_PX = [5, 9] as const;
/** Colour differences, of −128–127. */
const HUE = [8, 26] as const;

const TURN = 4096;
const sines = Float32Array.from({ length: TURN }, (_, index) => Math.sin((index / TURN) * 2 * Math.PI));
const SINE_SCALE = TURN / (2 * Math.PI);
/** A soft step from −1 to 1, over −STEP_END…STEP_END. */
const STEP_END = 3;
const STEP_SCALE = 100;
const steps = Float32Array.from({ length: 2 * STEP_END * STEP_SCALE + 1 }, (_, index) =>
  Math.tanh(3 * (index / STEP_SCALE - STEP_END)),
);

export class Paper {
  readonly tone: number;
  /** Colour differences to blue and red. */
  readonly blue: number;
  readonly red: number;
  readonly #kind: number;
  readonly #contrast: number;
  readonly #duty: number;
  readonly #wobble: number;
  readonly #across: { x: number; y: number; from: number };
  readonly #along: { x: number; y: number; from: number };

  constructor(random: DrawRandom, tone: number) {
    this.tone = tone;
    const hue = random.next() * 2 * Math.PI;
    const depth = random.between(...HUE);
    this.blue = depth * Math.cos(hue);
    this.red = depth * Math.sin(hue);
    this.#kind = random.bits() & 3;
    this.#contrast = random.between(...CONTRAST);
    this.#duty = random.between(-0.35, 0.35);
    this.#wobble = random.between(0, 2) * SINE_SCALE;
    const angle = random.next() * 2 * Math.PI;
    const pace = TURN / random.between(...PERIOD_PX);
    const [x, y] = [Math.cos(angle) * pace, Math.sin(angle) * pace];
    this.#across = { x, y, from: random.next() * TURN };
    this.#along = { x: -y, y: x, from: random.next() * TURN };
  }

  toneAt(x: number, y: number): number {
    const u = x * this.#across.x + y * this.#across.y + this.#across.from;
    const v = x * this.#along.x + y * this.#along.y + this.#along.from;
    let height: number;
    if (this.#kind === 0) height = sine(u);
    else if (this.#kind === 1) height = sine(u) * sine(v) * 1.5;
    else if (this.#kind === 2) height = sine(u * 0.8) + sine(v * 0.8) - 0.5;
    else height = sine(u + this.#wobble * sine(v * 0.5));
    return this.tone + this.#contrast * steps[Math.round((height + this.#duty + STEP_END) * STEP_SCALE)]!;
  }
}

/** A paper of another tone than those beside it, where the range leaves room. */
export function newPaper(random: DrawRandom, beside: readonly Paper[], apart: number): Paper {
  let tone = random.between(...TONE);
  for (let tries = 0; tries < 20 && beside.some((paper) => Math.abs(paper.tone - tone) < apart); tries++) {
    tone = random.between(...TONE);
  }
  return new Paper(random, tone);
}

function sine(turned: number): number {
  return sines[turned & (TURN - 1)]!;
}
