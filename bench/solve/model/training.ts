/**
 * Trains the networks of the bench once, and keeps their weights beside the bench, where git ignores them. They learn
 * from tasks of a fixed seed. The tasks that are measured have ids drawn at random, so no network saw one of them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { drawRandom, type DrawRandom } from '../../../src/captcha/visual/draw-random.ts';
import type { Network } from './network.ts';

/** The largest step of all. */
const RATE = 0.002;
const SEED = new Uint8Array(16).fill(1);
/** The loss that is shown is a mean of so many steps. */
const SHOWN_STEPS = 50;

export type OnLoss = (loss: number) => void;

/** Large steps first, small ones at the end. `share`: of the training that is done, 0 to 1. */
export function rateAt(share: number): number {
  return (RATE * (1 + Math.cos(Math.PI * share))) / 2;
}

interface Training {
  name: string;
  make: (random: DrawRandom) => Network;
  train: (network: Network, random: DrawRandom, steps: number, onLoss: OnLoss) => void;
  steps: number;
}

interface Trained {
  network: Network;
  cpuMinutes: number;
}

/** Trains where no weights are kept that fit, or with `again`. */
export function trained({ name, make, train, steps }: Training, again: boolean): Trained {
  const file = new URL(`../../.weights/${name}.json`, import.meta.url).pathname;
  const random = drawRandom(SEED);
  const network = make(random);
  const kept = again ? null : keptIn(file);
  if (kept?.steps === steps && fill(network, kept.weights)) return { network, cpuMinutes: kept.cpuMinutes };
  const started = process.cpuUsage();
  let [step, sum] = [0, 0];
  train(network, random, steps, (loss) => {
    sum += loss;
    if (++step % SHOWN_STEPS !== 0) return;
    process.stderr.write(`${name}, step ${step} of ${steps}: loss ${(sum / SHOWN_STEPS).toFixed(3)}\n`);
    sum = 0;
  });
  const { user, system } = process.cpuUsage(started);
  const cpuMinutes = (user + system) / 60e6;
  mkdirSync(dirname(file), { recursive: true });
  const weights = network.weights.map((layer) => Buffer.from(layer.buffer).toString('base64'));
  writeFileSync(file, JSON.stringify({ steps, cpuMinutes, weights } satisfies Kept));
  return { network, cpuMinutes };
}

interface Kept {
  steps: number;
  cpuMinutes: number;
  /** The weights of each layer, as 32-bit floats in base64. */
  weights: string[];
}

function keptIn(file: string): Kept | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return null;
  }
}

/** `false`: the weights are those of another network. */
function fill({ weights }: Network, kept: readonly string[]): boolean {
  const layers = kept.map((layer) => new Float32Array(new Uint8Array(Buffer.from(layer, 'base64')).buffer));
  if (layers.length !== weights.length) return false;
  if (layers.some((layer, index) => layer.length !== weights[index]!.length)) return false;
  for (const [index, layer] of layers.entries()) weights[index]!.set(layer);
  return true;
}
