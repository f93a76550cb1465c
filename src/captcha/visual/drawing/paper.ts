/**
 * Papers that a collage is glued from: stripes, waves, checks or dots in two tones close to each other. Every paper of a
 * picture draws its pattern and hue from the same ranges.
 */
import type { DrawRandom } from '../draw-random.ts';

/** Tones of 0–255. Rims and shadows reach beyond. Around every figure, some of the ground is darker and some lighter. */
const FIGURE_TONE = [105, 155] as const;
const GROUND_TONE = [25, 240] as const;
/** Between the tone of a figure and those of its ground: people see at a glance where one ends and the other begins. */
const GROUND_APART = 65;
/** Half the difference of a paper's two tones: far less than between papers, so that no pattern hides an edge. */
const CONTRAST = [5, 12] as const;
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
    return this.tone + this.#contrast * stepOf(heightOf(this.#kind, u, v, this.#wobble) + this.#duty);
  }

  /** Writes `toneAt` of the columns from `from` up to `to` of row `y`. Its numbers are read once, not for each pixel. */
  writeTones(tones: Float64Array<ArrayBuffer>, y: number, from: number, to: number): void {
    const across = this.#across;
    const along = this.#along;
    const acrossX = across.x;
    const acrossY = y * across.y;
    const acrossFrom = across.from;
    const alongX = along.x;
    const alongY = y * along.y;
    const alongFrom = along.from;
    const kind = this.#kind;
    const wobble = this.#wobble;
    const duty = this.#duty;
    const { tone } = this;
    const contrast = this.#contrast;
    for (let x = from; x < to; x++) {
      const u = x * acrossX + acrossY + acrossFrom;
      const v = x * alongX + alongY + alongFrom;
      tones[x] = tone + contrast * stepOf(heightOf(kind, u, v, wobble) + duty);
    }
  }
}

function heightOf(kind: number, u: number, v: number, wobble: number): number {
  if (kind === 0) return sine(u);
  if (kind === 1) return sine(u) * sine(v) * 1.5;
  if (kind === 2) return sine(u * 0.8) + sine(v * 0.8) - 0.5;
  return sine(u + wobble * sine(v * 0.5));
}

function stepOf(height: number): number {
  return steps[((height + STEP_END) * STEP_SCALE + 0.5) | 0]!;
}

export function figureTone(random: DrawRandom): number {
  return random.between(...FIGURE_TONE);
}

export function groundTone(random: DrawRandom, figure: number, isDark: boolean): number {
  const [darkest, lightest] = GROUND_TONE;
  return isDark ? random.between(darkest, figure - GROUND_APART) : random.between(figure + GROUND_APART, lightest);
}

function sine(turned: number): number {
  return sines[turned & (TURN - 1)]!;
}
