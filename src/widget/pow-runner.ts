/**
 * Runs a proof of work where this page can: in a dedicated worker, else in slices on the main
 * thread. A worker must be of the page's own origin and allowed by its CSP; both are found out by
 * trying, and the slices then cost the visitor time, never the pass.
 */
import type { PowTask } from '../contract/challenge-api.ts';
import { loadAsset } from './asset-loader.ts';
import { assetFile } from './asset-versions.ts';
import { CaptchaError } from './captcha-error.ts';
import type { PowSolution, SolvePow } from './pow-task.ts';
import type { ScriptLocation } from './script-location.ts';
import { scriptUrl } from './trusted-url.ts';

export type OnProgress = (done: number) => void;
type WorkerMessage = { done: number } | { solution: PowSolution | null };
/** `no-worker`: the file could not be loaded or run; a CSP refusal shows as an error event. */
type Outcome = PowSolution | null | 'no-worker';

export interface PowRunner {
  /** Call at most once. Rejects with `cancelled` when the signal fires, `unsupported` when nothing can run it. */
  solve(task: PowTask, onProgress: OnProgress): Promise<PowSolution>;
}

/** Starts the worker at once, so that its start-up overlaps with the fetch of the challenge. */
export function preparePow(location: ScriptLocation, signal: AbortSignal): PowRunner {
  let onProgress: OnProgress | undefined;
  let worker: Worker | null = null;
  const outcome = new Promise<Outcome>((resolve) => {
    try {
      worker = new Worker(scriptUrl(location.base, assetFile('pow-worker')));
    } catch {
      resolve('no-worker');
      return;
    }
    worker.addEventListener('error', () => resolve('no-worker'));
    worker.addEventListener('message', (event: MessageEvent<WorkerMessage>) => {
      if ('done' in event.data) onProgress?.(event.data.done);
      else resolve(event.data.solution);
    });
    signal.addEventListener('abort', () => resolve(null));
  }).finally(() => worker?.terminate());

  return {
    async solve(task, report) {
      onProgress = report;
      worker?.postMessage(task, []);
      let solution = await outcome;
      if (solution === 'no-worker') {
        const solvePow = await loadAsset<SolvePow>(location, 'pow-worker');
        solution = await solvePow(task, report, () => signal.aborted, false);
      }
      if (signal.aborted) throw new CaptchaError('cancelled');
      if (solution === null) throw new CaptchaError('unsupported', task.lane);
      return solution;
    },
  };
}
