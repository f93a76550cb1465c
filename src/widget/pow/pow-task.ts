/**
 * From a proof-of-work task as the service words it to the solution it wants back. Runs in the
 * worker, and on the page where no worker may run.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';
import { solveRsw, solveSha256 } from '../../captcha/pow/pow-solve.ts';

export type PowSolution = { y: string } | { counters: string } | Record<string, never>;
/** A step of a wait: the bar moves, a cancel gets through. */
const WAIT_STEP_MS = 100;

export type SolvePow = typeof solvePow;

/** `null` when cancelled, or when the task is none that a browser can do. */
export async function solvePow(
  task: PowTask,
  onProgress: (done: number) => void,
  isCancelled: () => boolean,
  inWorker: boolean,
): Promise<PowSolution | null> {
  const pause = inWorker ? null : undefined;
  if (task.lane === 'rsw') {
    const { n = '', x = '', t = 0 } = task;
    const y = await solveRsw({ n, x, t }, onProgress, isCancelled, pause);
    return y === null ? null : { y };
  }
  if (task.lane === 'sha256') {
    const { salt = '', count = 0, bits = 0 } = task;
    const counters = await solveSha256({ salt, count, bits }, onProgress, isCancelled, pause);
    return counters === null ? null : { counters };
  }
  if (task.lane === 'wait') {
    const { waitMs = 0 } = task;
    for (let waited = 0; waited < waitMs && !isCancelled(); waited += WAIT_STEP_MS) {
      onProgress(waited / waitMs);
      await new Promise((resolve) => setTimeout(resolve, Math.min(WAIT_STEP_MS, waitMs - waited)));
    }
    return isCancelled() ? null : {};
  }
  return null;
}
