/**
 * Finds tunes in a grid of frames and rows: the best path of a window that only rises, only falls, or stays, by dynamic
 * programming over pitch and height risen. The best windows that do not overlap too much are the tunes.
 */
import { FRAME_SECONDS, type Grid, ROWS } from './spectrum.ts';

export interface Path {
  /** Frame of its start. */
  start: number;
  /** 1 up, −1 down, 0 stays. */
  direction: number;
  score: number;
}

/** Frames of a tune. */
const LENGTHS = [26, 33] as const;
/** Frames from one window to the next. */
const STRIDE = 2;
const RISE_MIN = 5;
const RISE_MAX = 14;
const STEP_MAX = 6;
/** Seconds between the starts of two tunes, at least. */
const APART_SECONDS = 0.35;
/** What an empty cell costs. */
const SILENCE = 0.5;
const STEP_COST = 0.3;
const NEVER = -1e9;

export function pathsOf(grid: Grid): Path[] {
  const all: Path[] = [];
  for (let start = 0; start + LENGTHS[0] <= grid.length; start += STRIDE) {
    for (const direction of [1, -1, 0]) {
      let score = NEVER;
      for (const length of LENGTHS) {
        if (start + length <= grid.length) score = Math.max(score, bestPath(grid, start, length, direction));
      }
      all.push({ start, direction, score });
    }
  }
  const apart = APART_SECONDS / FRAME_SECONDS;
  const chosen: Path[] = [];
  for (const path of all.toSorted((a, b) => b.score - a.score)) {
    if (chosen.every(({ start }) => Math.abs(start - path.start) >= apart)) chosen.push(path);
  }
  return chosen;
}

/** Mean value along the best path. */
function bestPath(grid: Grid, start: number, length: number, direction: number): number {
  const heights = direction === 0 ? 1 : RISE_MAX + 1;
  let best = new Float32Array(ROWS * heights).fill(NEVER);
  const before = grid[start - 3];
  for (let row = 0; row < ROWS; row++) best[row * heights] = grid[start]![row]! - (before?.[row] ?? 0);
  for (let frame = 1; frame < length; frame++) {
    const values = grid[start + frame]!;
    const next = new Float32Array(ROWS * heights);
    for (let row = 0; row < ROWS; row++) {
      const value = values[row]! - SILENCE;
      for (let height = 0; height < heights; height++) {
        let most = best[row * heights + height]!;
        for (let step = 1; step <= STEP_MAX && step <= height; step++) {
          const from = row - direction * step;
          if (from < 0 || from >= ROWS) break;
          most = Math.max(most, best[from * heights + height - step]! - STEP_COST);
        }
        next[row * heights + height] = most + value;
      }
    }
    best = next;
  }
  const after = grid[start + length + 2];
  let most = NEVER;
  for (let row = 0; row < ROWS; row++) {
    for (let height = direction === 0 ? 0 : RISE_MIN; height < heights; height++) {
      most = Math.max(most, best[row * heights + height]! - (after?.[row] ?? 0));
    }
  }
  return most / length;
}
