/**
 * Which pitches sound when: each frame's spectrum as a sum of harmonic series in several colours, and of broad noise, by
 * non-negative factors (Kullback–Leibler, multiplicative updates) over a dictionary that is fixed.
 */
import { binOf, type Grid, hertzOf, magnitudes, ROWS } from './spectrum.ts';

/** Pitches of the tunes; above them are only harmonics. */
const PITCHES = 36;
const ROUNDS = 14;
const HARMONICS = 10;
const COLOURS: readonly ((hertz: number) => number)[] = [
  (hertz) => 0.1 + 1 / (1 + ((hertz - 300) / 300) ** 2),
  (hertz) => 0.1 + 1 / (1 + ((hertz - 900) / 400) ** 2),
  (hertz) => 0.1 + 1 / (1 + ((hertz - 2000) / 800) ** 2),
];
const NOISE_AT = [40, 110, 220, 340] as const;

interface Atom {
  row: number | null;
  bins: Int32Array;
  shares: Float32Array;
}

export function pitchRoll(samples: Float32Array, sampleRate: number): Grid {
  const atoms = dictionary(sampleRate);
  let kept: Float32Array | null = null;
  return magnitudes(samples, sampleRate).map((frame) => {
    const gains = factors(
      frame.map((value) => value ** 0.7 + 1e-4),
      atoms,
      kept,
    );
    kept = gains;
    const rows = new Float32Array(ROWS);
    for (const [index, { row }] of atoms.entries()) if (row !== null) rows[row] = rows[row]! + gains[index]!;
    return rows;
  });
}

/** The roll as logarithms above its mean, like the rows of a spectrum. */
export function logarithmic(roll: Grid): Grid {
  let sum = 0;
  for (const frame of roll) for (let row = 0; row < PITCHES; row++) sum += frame[row]!;
  const mean = sum / (roll.length * PITCHES) + 1e-9;
  return roll.map((frame) => frame.map((value) => Math.log(1 + (3 * value) / mean)));
}

function dictionary(sampleRate: number): Atom[] {
  const size = binOf(sampleRate / 2, sampleRate);
  const atoms: Atom[] = [];
  const add = (row: number | null, shape: (bin: number) => number): void => {
    const bins: number[] = [];
    for (let bin = 1; bin < size; bin++) if (shape(bin) > 1e-3) bins.push(bin);
    const shares = Float32Array.from(bins, shape);
    const sum = shares.reduce((total, share) => total + share, 0);
    atoms.push({ row, bins: Int32Array.from(bins), shares: shares.map((share) => share / sum) });
  };
  for (const colour of COLOURS) {
    for (let row = 0; row < PITCHES; row++) {
      const series = new Float32Array(size);
      for (let harmonic = 1; harmonic <= HARMONICS && hertzOf(row) * harmonic < 3500; harmonic++) {
        const centre = binOf(hertzOf(row) * harmonic, sampleRate);
        const gain = harmonic ** -0.4 * colour(hertzOf(row) * harmonic);
        for (let bin = Math.max(1, Math.floor(centre - 3)); bin <= centre + 3 && bin < size; bin++) {
          series[bin] = series[bin]! + gain * Math.exp(-(((bin - centre) / 1.5) ** 2));
        }
      }
      add(row, (bin) => series[bin]!);
    }
  }
  for (const centre of NOISE_AT) add(null, (bin) => Math.exp(-(((bin - centre) / 60) ** 2)));
  return atoms;
}

function factors(wanted: Float32Array, atoms: readonly Atom[], kept: Float32Array | null): Float32Array {
  const total = wanted.reduce((sum, value) => sum + value, 0);
  const even = total / atoms.length;
  const gains = Float32Array.from(atoms, (_, index) => (kept === null ? even : (kept[index]! + even) / 2));
  const ratio = new Float32Array(wanted.length);
  for (let round = 0; round < ROUNDS; round++) {
    ratio.fill(1e-5 * total);
    for (const [index, { bins, shares }] of atoms.entries()) {
      const gain = gains[index]!;
      if (gain < 1e-4 * total) continue;
      for (let at = 0; at < bins.length; at++) ratio[bins[at]!] = ratio[bins[at]!]! + gain * shares[at]!;
    }
    for (let bin = 0; bin < ratio.length; bin++) ratio[bin] = wanted[bin]! / ratio[bin]!;
    for (const [index, { bins, shares }] of atoms.entries()) {
      let sum = 0;
      if (gains[index]! >= 1e-4 * total)
        for (let at = 0; at < bins.length; at++) sum += shares[at]! * ratio[bins[at]!]!;
      gains[index] = gains[index]! * sum;
    }
  }
  return gains;
}
