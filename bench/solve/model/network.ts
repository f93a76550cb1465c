/**
 * A convolutional network in plain TypeScript: a chain of convolutions without padding, ReLU between them, and one yes
 * or no for each output channel at the end (logistic loss). A larger input gives a larger output, so one network that
 * was trained on windows also searches a whole picture. Adam (Kingma, Ba 2014) trains it.
 */
import type { DrawRandom } from '../../../src/captcha/visual/draw-random.ts';

/** Numbers of `count` samples: one row for each channel, with all samples, lines and columns behind each other. */
export interface Batch {
  channels: number;
  count: number;
  height: number;
  width: number;
  values: Float32Array;
}

export interface LayerShape {
  /** Output channels. */
  channels: number;
  /** Height and width of the kernel. */
  kernel: readonly [number, number];
  stride: readonly [number, number];
}

interface Layer extends LayerShape {
  /** `channels` rows of weights, one for each number under the kernel, and then a bias for each row. */
  weights: Float32Array;
  gradient: Float32Array;
  /** Adam's running means of the gradient and of its square. */
  mean: Float32Array;
  square: Float32Array;
}

/** The label of an output that nothing is known about. It teaches nothing. */
export const UNKNOWN = -1;
const MEAN_KEPT = 0.9;
const SQUARE_KEPT = 0.999;

export class Network {
  readonly #layers: Layer[];
  #steps = 0;

  /** @param inputs channels of the input. */
  constructor(inputs: number, shapes: readonly LayerShape[], random: DrawRandom) {
    this.#layers = shapes.map((shape, index) => {
      const [height, width] = shape.kernel;
      const inner = (index === 0 ? inputs : shapes[index - 1]!.channels) * height * width;
      const weights = new Float32Array(shape.channels * (inner + 1));
      // He et al. 2015: as much variance behind a ReLU as before it. The biases stay 0.
      const spread = Math.sqrt(6 / inner);
      for (let at = 0; at < shape.channels * inner; at++) weights[at] = random.between(-spread, spread);
      const zeros = (): Float32Array => new Float32Array(weights.length);
      return { ...shape, weights, gradient: zeros(), mean: zeros(), square: zeros() };
    });
  }

  /** The weights of each layer. A caller may write into them, to restore a network that was trained before. */
  get weights(): readonly Float32Array[] {
    return this.#layers.map(({ weights }) => weights);
  }

  /** Logits: 0 is as likely yes as no. */
  run(input: Batch): Batch {
    return this.#forward(input).at(-1)!.output;
  }

  /**
   * One step of the size `rate` towards the labels. Returns the mean loss before it.
   * @param labelsFor the output: 0 or 1 for each of its numbers, or `UNKNOWN`.
   */
  learn(input: Batch, labelsFor: (output: Batch) => Float32Array, rate: number): number {
    const passed = this.#forward(input);
    const logits = passed.at(-1)!.output;
    const labels = labelsFor(logits);
    let slope: Batch = { ...logits, values: new Float32Array(logits.values.length) };
    let [loss, known] = [0, 0];
    for (const [at, label] of labels.entries()) {
      if (label === UNKNOWN) continue;
      const logit = logits.values[at]!;
      loss += Math.max(logit, 0) - logit * label + Math.log1p(Math.exp(-Math.abs(logit)));
      slope.values[at] = likelihood(logit) - label;
      known++;
    }
    for (let at = 0; at < slope.values.length; at++) slope.values[at]! /= known;
    for (const [index, layer] of [...this.#layers.entries()].toReversed()) {
      slope = backward(layer, passed[index]!, slope, index === 0);
    }
    this.#steps++;
    for (const layer of this.#layers) adam(layer, rate, this.#steps);
    return loss / known;
  }

  #forward(input: Batch): Passed[] {
    const passed: Passed[] = [];
    for (const [index, layer] of this.#layers.entries()) {
      passed.push(forward(layer, passed.at(-1)?.output ?? input, index < this.#layers.length - 1));
    }
    return passed;
  }
}

export function likelihood(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

interface Passed {
  input: Batch;
  /** What lies under the kernel, a column for each place. */
  columns: Float32Array;
  output: Batch;
}

function forward(layer: Layer, input: Batch, isRectified: boolean): Passed {
  const { channels, weights } = layer;
  const { count } = input;
  const [height, width] = [0, 1].map(
    (axis) => Math.floor(([input.height, input.width][axis]! - layer.kernel[axis]!) / layer.stride[axis]!) + 1,
  ) as [number, number];
  const places = count * height * width;
  const columns = new Float32Array(underKernel(layer, input) * places);
  eachRun(layer, input, height, width, (column, at, step) => {
    for (let x = 0, from = at; x < width; x++, from += step) columns[column + x] = input.values[from]!;
  });
  const values = new Float32Array(channels * places);
  for (let channel = 0; channel < channels; channel++) {
    values.fill(weights[weights.length - channels + channel]!, channel * places, (channel + 1) * places);
  }
  multiply(weights, columns, values, channels, underKernel(layer, input), places);
  if (isRectified) for (let at = 0; at < values.length; at++) if (values[at]! < 0) values[at] = 0;
  return { input, columns, output: { channels, count, height, width, values } };
}

/** Sets the gradient of the layer, and returns the slope of its input. */
function backward(layer: Layer, { input, columns, output }: Passed, slope: Batch, isFirst: boolean): Batch {
  const { channels, weights, gradient } = layer;
  const under = underKernel(layer, input);
  const places = slope.values.length / channels;
  gradient.fill(0);
  multiplyByRows(slope.values, columns, gradient, channels, under, places);
  for (let channel = 0; channel < channels; channel++) {
    let sum = 0;
    for (let at = channel * places; at < (channel + 1) * places; at++) sum += slope.values[at]!;
    gradient[gradient.length - channels + channel] = sum;
  }
  const before: Batch = { ...input, values: new Float32Array(isFirst ? 0 : input.values.length) };
  if (isFirst) return before;
  const turned = new Float32Array(under * channels);
  for (let row = 0; row < channels; row++) {
    for (let column = 0; column < under; column++) turned[column * channels + row] = weights[row * under + column]!;
  }
  const columnSlopes = new Float32Array(columns.length);
  multiply(turned, slope.values, columnSlopes, under, channels, places);
  const { width } = output;
  eachRun(layer, input, output.height, width, (column, at, step) => {
    for (let x = 0, to = at; x < width; x++, to += step) before.values[to]! += columnSlopes[column + x]!;
  });
  // The input is the output of a ReLU, which is flat where it is 0.
  for (let at = 0; at < before.values.length; at++) if (input.values[at] === 0) before.values[at] = 0;
  return before;
}

function underKernel({ kernel: [height, width] }: Layer, { channels }: Batch): number {
  return channels * height * width;
}

/** Visits each line of places under each point of the kernel: where it is in the columns, where in the input, and the step there. */
function eachRun(
  { kernel, stride }: Layer,
  { channels, count, height, width }: Batch,
  lines: number,
  places: number,
  visit: (column: number, at: number, step: number) => void,
): void {
  let column = 0;
  for (let channel = 0; channel < channels; channel++) {
    for (let down = 0; down < kernel[0]; down++) {
      for (let right = 0; right < kernel[1]; right++) {
        for (let sample = 0; sample < count; sample++) {
          for (let line = 0; line < lines; line++, column += places) {
            const row = (channel * count + sample) * height + line * stride[0] + down;
            visit(column, row * width + right, stride[1]);
          }
        }
      }
    }
  }
}

/** Columns that are worked on together, so that their sums stay in the processor's first cache. */
const BLOCK = 512;

/** Adds `left` (rows × inner) times `right` (inner × columns) to `sum`, four rows at a time. */
function multiply(
  left: Float32Array,
  right: Float32Array,
  sum: Float32Array,
  rows: number,
  inner: number,
  columns: number,
): void {
  for (let block = 0; block < columns; block += BLOCK) {
    const width = Math.min(BLOCK, columns - block);
    for (let row = 0; row < rows; row += 4) {
      // A row that is not there adds nothing to the last one.
      const row2 = Math.min(row + 1, rows - 1);
      const row3 = Math.min(row + 2, rows - 1);
      const row4 = Math.min(row + 3, rows - 1);
      const to = row * columns + block;
      const to2 = row2 * columns + block;
      const to3 = row3 * columns + block;
      const to4 = row4 * columns + block;
      for (let at = 0; at < inner; at++) {
        const weight = left[row * inner + at]!;
        const weight2 = row + 1 < rows ? left[row2 * inner + at]! : 0;
        const weight3 = row + 2 < rows ? left[row3 * inner + at]! : 0;
        const weight4 = row + 3 < rows ? left[row4 * inner + at]! : 0;
        const from = at * columns + block;
        for (let column = 0; column < width; column++) {
          const value = right[from + column]!;
          sum[to + column]! += weight * value;
          sum[to2 + column]! += weight2 * value;
          sum[to3 + column]! += weight3 * value;
          sum[to4 + column]! += weight4 * value;
        }
      }
    }
  }
}

/** Adds to `products` those of each row of `left` with each row of `right`, both `inner` long, two by two. */
function multiplyByRows(
  left: Float32Array,
  right: Float32Array,
  products: Float32Array,
  rows: number,
  columns: number,
  inner: number,
): void {
  for (let block = 0; block < inner; block += BLOCK) {
    const end = Math.min(BLOCK, inner - block);
    for (let row = 0; row < rows; row += 2) {
      const row2 = Math.min(row + 1, rows - 1);
      const a = row * inner + block;
      const a2 = row2 * inner + block;
      for (let column = 0; column < columns; column += 2) {
        const column2 = Math.min(column + 1, columns - 1);
        const b = column * inner + block;
        const b2 = column2 * inner + block;
        let one = 0;
        let two = 0;
        let three = 0;
        let four = 0;
        for (let at = 0; at < end; at++) {
          const x = left[a + at]!;
          const x2 = left[a2 + at]!;
          const y = right[b + at]!;
          const y2 = right[b2 + at]!;
          one += x * y;
          two += x * y2;
          three += x2 * y;
          four += x2 * y2;
        }
        products[row * columns + column]! += one;
        if (column2 > column) products[row * columns + column2]! += two;
        if (row2 > row) products[row2 * columns + column]! += three;
        if (row2 > row && column2 > column) products[row2 * columns + column2]! += four;
      }
    }
  }
}

function adam({ weights, gradient, mean, square }: Layer, rate: number, step: number): void {
  const scale = (rate * Math.sqrt(1 - SQUARE_KEPT ** step)) / (1 - MEAN_KEPT ** step);
  for (let at = 0; at < weights.length; at++) {
    const slope = gradient[at]!;
    mean[at] = MEAN_KEPT * mean[at]! + (1 - MEAN_KEPT) * slope;
    square[at] = SQUARE_KEPT * square[at]! + (1 - SQUARE_KEPT) * slope * slope;
    weights[at]! -= (scale * mean[at]!) / (Math.sqrt(square[at]!) + 1e-8);
  }
}
