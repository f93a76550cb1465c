/** The network of the bench that reads pictures learns: the same in every run, because its randomness has a seed. */
import { expect, test } from 'vitest';
import { type Batch, likelihood, Network } from '../../../bench/solve/model/network.ts';
import { drawRandom, type DrawRandom } from '../../../src/captcha/visual/draw-random.ts';

const SIDE = 9;
const SAMPLES = 32;

/** Squares with a bright line somewhere, upright or level, in noise. The label says which. */
function lines(random: DrawRandom): { batch: Batch; labels: Float32Array } {
  const values = new Float32Array(SAMPLES * SIDE * SIDE).map(() => random.between(-0.3, 0.3));
  const labels = Float32Array.from({ length: SAMPLES }, (_, sample) => {
    const isUpright = random.bits() % 2;
    const at = random.bits() % SIDE;
    for (let step = 0; step < SIDE; step++) {
      values[sample * SIDE * SIDE + (isUpright === 1 ? step * SIDE + at : at * SIDE + step)]! += 1;
    }
    return isUpright;
  });
  return { batch: { channels: 1, count: SAMPLES, height: SIDE, width: SIDE, values }, labels };
}

test('a network learns to tell upright lines from level ones, wherever they are', () => {
  const random = drawRandom(new Uint8Array(16).fill(1));
  const network = new Network(
    1,
    [
      { channels: 6, kernel: [3, 3], stride: [2, 2] },
      { channels: 8, kernel: [4, 4], stride: [1, 1] },
      { channels: 1, kernel: [1, 1], stride: [1, 1] },
    ],
    random,
  );
  for (let step = 0; step < 200; step++) {
    const { batch, labels } = lines(random);
    network.learn(batch, () => labels, 0.01);
  }
  const { batch, labels } = lines(random);
  const answers = Array.from(network.run(batch).values, (logit) => (likelihood(logit) > 0.5 ? 1 : 0));
  expect(answers).toEqual([...labels]);
});

test('a slope of the loss is what a small step of a weight changes', () => {
  const random = drawRandom(new Uint8Array(16).fill(2));
  const shapes = [
    { channels: 3, kernel: [2, 3], stride: [1, 2] },
    { channels: 2, kernel: [2, 2], stride: [1, 1] },
  ] as const;
  const values = new Float32Array(2 * 2 * 5 * 9).map(() => random.between(-1, 1));
  const batch: Batch = { channels: 2, count: 2, height: 5, width: 9, values };
  const labelsFor = ({ values: { length } }: Batch): Float32Array =>
    Float32Array.from({ length }, (_, at) => (at % 3 === 0 ? 1 : 0));
  const seed = new Uint8Array(16).fill(3);
  const lossWith = (layer: number, at: number, change: number): number => {
    const network = new Network(2, shapes, drawRandom(seed));
    network.weights[layer]![at]! += change;
    return network.learn(batch, labelsFor, 0);
  };
  // Adam's first step is `rate` against the sign of the slope, whatever its size.
  const network = new Network(2, shapes, drawRandom(seed));
  const before = network.weights.map((layer) => layer.slice());
  network.learn(batch, labelsFor, 0.001);
  for (const [layer, weights] of network.weights.entries()) {
    for (let at = 0; at < weights.length; at += 5) {
      const slope = lossWith(layer, at, 0.01) - lossWith(layer, at, -0.01);
      if (Math.abs(slope) > 1e-4) expect(Math.sign(before[layer]![at]! - weights[at]!)).toBe(Math.sign(slope));
    }
  }
});
