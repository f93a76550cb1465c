/**
 * Turns the service's proof-of-work task into a solution. Runs in the worker, or on the page where no worker may run.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';
import { type RswTask, type Sha256Task, solveRsw, solveSha256 } from '../../captcha/pow/pow-solve.ts';

export type PowSolution = { y: string } | { counters: string } | Record<string, never>;
/** Between steps of a wait, the progress bar moves and a cancellation takes effect. */
const WAIT_STEP_MS = 100;

/** `x`: of what is left of a time-lock. Another task cannot be gone on with. */
export type OnProgress = (done: number, x?: string) => void;
export type SolvePow = typeof solvePow;

/** `null` when cancelled, or when a browser cannot solve such a task. */
export async function solvePow(
  task: PowTask,
  onProgress: OnProgress,
  isCancelled: () => boolean,
  inWorker: boolean,
): Promise<PowSolution | null> {
  const pause = inWorker ? null : undefined;
  if (task.lane === 'rsw') {
    const y = await solveRsw({ n: '', x: '', t: 0, ...task } as RswTask, onProgress, isCancelled, pause);
    return y === null ? null : { y };
  }
  if (task.lane === 'sha256') {
    const counters = await solveSha256(
      { salt: '', count: 0, bits: 0, ...task } as Sha256Task,
      onProgress,
      isCancelled,
      pause,
    );
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
