/**
 * What a session costs, as the `powDifficulty` of its time-lock. Everybody's first page pays it, so it is small: 46 ms of
 * a desktop core in Chromium. A network that opens sessions in a burst pays twice as much for each at every step, because
 * a session is worth more than one form: it lasts a day.
 */
const BASE_DIFFICULTY = 2.5;
/** 1.5 difficulties are twice the squarings. */
const BURST_STEP_DIFFICULTY = 1.5;
const DIFFICULTY_MAX = 10;

/** `burstSteps`: of `BurstPrice`. */
export function sessionDifficulty(burstSteps: number): number {
  return Math.min(DIFFICULTY_MAX, BASE_DIFFICULTY + burstSteps * BURST_STEP_DIFFICULTY);
}
