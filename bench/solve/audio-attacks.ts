/**
 * Programs against the recordings, from a level meter to a tracker of pitches. Each estimates a number for a part, how
 * many tunes go up. Those that learn fit that number to examples which they draw with the service's code, by a straight
 * line or a threshold; there are no further parameters.
 */
import type { Attack } from './attack.ts';
import { type Estimate, leastSquares } from './audio/least-squares.ts';
import { logarithmic, pitchRoll } from './audio/pitch-roll.ts';
import { shiftsOf } from './audio/shifts.ts';
import { FRAME_SECONDS, type Grid, magnitudes, partsOf, semitones } from './audio/spectrum.ts';
import { pathsOf } from './audio/tune-paths.ts';

/** Numbers of one part, in which a program looks for the count. */
type Features = (samples: Float32Array, sampleRate: number) => number[];

export const audioAttacks: readonly Attack<'audio'>[] = [
  { name: 'always the same count', solve: ({ groups }) => ({ digits: '2'.repeat(groups) }) },
  learning('level meter', levelFeatures),
  learning('bands of energy', bandFeatures),
  learning('onsets after spectral subtraction', onsetFeatures),
  learning('centre of the spectrum', centreFeatures),
  learning('shifts of the spectrum', (samples, rate) => shiftsOf(semitones(samples, rate))),
  learning('paths in the spectrum', (samples, rate) => pathFeatures(semitones(samples, rate))),
  learning('paths of pitches', (samples, rate) => pathFeatures(logarithmic(pitchRoll(samples, rate)))),
];

function learning(name: string, features: Features): Attack<'audio'> {
  let estimate: Estimate = () => 2;
  return {
    name,
    learn(examples) {
      const parts = examples.flatMap(({ task, solution }) =>
        partsOf(task).map((samples, part) => ({
          features: features(samples, task.sampleRate),
          count: Number(String(solution['digits'])[part]),
        })),
      );
      estimate = leastSquares(parts);
    },
    solve(task) {
      const counts = partsOf(task).map((samples) => Math.round(estimate(features(samples, task.sampleRate))));
      return { digits: counts.map((count) => Math.min(task.most, Math.max(1, count))).join('') };
    },
  };
}

/** How often the level crosses thresholds upwards. */
function levelFeatures(samples: Float32Array, sampleRate: number): number[] {
  const span = Math.round(FRAME_SECONDS * sampleRate);
  const levels = Array.from({ length: Math.floor(samples.length / span) }, (_, frame) => {
    const own = samples.subarray(frame * span, (frame + 1) * span);
    return Math.sqrt(own.reduce((sum, value) => sum + value * value, 0) / span);
  });
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
  return [0.5, 0.8, 1, 1.3, 1.6].map(
    (share) => levels.filter((level, frame) => level > mean * share && (levels[frame - 1] ?? 0) <= mean * share).length,
  );
}

/** Energy that is in a band now and in a higher one 0.3 s later, less the other way round, by a bank of bands. */
function bandFeatures(samples: Float32Array, sampleRate: number): number[] {
  const rows = semitones(samples, sampleRate);
  const bands = rows.map((frame) =>
    Array.from({ length: 14 }, (_, band) =>
      frame.subarray(band * 4, band * 4 + 4).reduce((sum, value) => sum + value, 0),
    ),
  );
  const later = Math.round(0.3 / FRAME_SECONDS);
  return [1, 2, 3].flatMap((higher) =>
    [0, 5, 10].map((first) => {
      let [up, all] = [0, 1e-9];
      for (let frame = 0; frame + later < bands.length; frame++) {
        for (let band = first; band < first + 5 && band + higher < 14; band++) {
          const rising = bands[frame]![band]! * bands[frame + later]![band + higher]!;
          const falling = bands[frame]![band + higher]! * bands[frame + later]![band]!;
          up += rising - falling;
          all += rising + falling;
        }
      }
      return up / all;
    }),
  );
}

/** Moments at which the spectrum grows, after the usual level of each row is taken away. */
function onsetsOf(rows: Grid): number[] {
  const growth = rows.map((frame, at) =>
    frame.reduce((sum, value, row) => sum + Math.max(0, value - (rows[at - 2]?.[row] ?? 0)), 0),
  );
  const mean = growth.reduce((sum, value) => sum + value, 0) / growth.length;
  return growth.flatMap((value, at) =>
    value > mean * 1.4 && value >= (growth[at - 1] ?? 0) && value > (growth[at + 1] ?? 0) ? [at] : [],
  );
}

function onsetFeatures(samples: Float32Array, sampleRate: number): number[] {
  return [onsetsOf(semitones(samples, sampleRate)).length];
}

/** Onsets after which the centre of the spectrum rises, and by how much. */
function centreFeatures(samples: Float32Array, sampleRate: number): number[] {
  const rows = semitones(samples, sampleRate);
  const linear = magnitudes(samples, sampleRate);
  const centres = [rows, linear].map((frames) =>
    frames.map((frame) => {
      let [weighted, sum] = [0, 1e-9];
      for (const [at, value] of frame.entries()) {
        weighted += at * value * value;
        sum += value * value;
      }
      return weighted / sum;
    }),
  );
  const later = Math.round(0.5 / FRAME_SECONDS);
  return centres.flatMap((centre) => {
    const rises = onsetsOf(rows).map(
      (at) => (centre[at + later] ?? centre.at(-1)!) - (centre[at + 2] ?? centre.at(-1)!),
    );
    return [rises.filter((rise) => rise > 0).length, rises.reduce((sum, rise) => sum + rise, 0)];
  });
}

/** Tunes found, by direction, among the best four, five and six paths, and how clearly they rise. */
function pathFeatures(grid: Grid): number[] {
  const best = pathsOf(grid);
  const rising = (count: number): number => best.slice(0, count).filter(({ direction }) => direction === 1).length;
  const clear = best.slice(0, 6).reduce((sum, { direction, score }) => sum + (direction === 1 ? score : 0), 0);
  return [rising(4), rising(5), rising(6), clear, best[3]?.score ?? 0, best[5]?.score ?? 0];
}
