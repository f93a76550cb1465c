/**
 * How the spectrum moves: each frame compared with a later one, shifted up and down by semitones. It needs no pitch and no
 * beginning of a note, and it works for strings, bells and wind alike.
 */
import { FRAME_SECONDS, type Grid, ROWS } from './spectrum.ts';

const LATER_SECONDS = [0.2, 0.35, 0.5] as const;
const SHIFT_MAX = 13;

/** Likeness by shift, from 13 semitones down to 13 up, one list for each distance of frames, over the whole part. */
export function shiftsOf(grid: Grid): number[] {
  return LATER_SECONDS.flatMap((seconds) => {
    const later = Math.round(seconds / FRAME_SECONDS);
    const sums = new Float64Array(2 * SHIFT_MAX + 1);
    for (let frame = 0; frame + later < grid.length; frame++) {
      const [one, other] = [grid[frame]!, grid[frame + later]!];
      for (let shift = -SHIFT_MAX; shift <= SHIFT_MAX; shift++) {
        let sum = 0;
        for (let row = Math.max(0, -shift); row < ROWS && row + shift < ROWS; row++)
          sum += one[row]! * other[row + shift]!;
        sums[shift + SHIFT_MAX] = sums[shift + SHIFT_MAX]! + sum;
      }
    }
    const total = sums.reduce((all, value) => all + value, 1e-9);
    return Array.from(sums, (value) => (value / total) * sums.length);
  });
}
