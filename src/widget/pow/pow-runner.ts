/**
 * Runs a proof of work outside the main thread where the page allows it, else in slices on the main thread, which is
 * slower but still succeeds.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';
import { loadAsset } from '../loading/asset-loader.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import type { PowEngine, StartEngine } from './pow-engine.ts';
import type { OnProgress, PowSolution, SolvePow } from './pow-task.ts';
import type { ScriptLocation } from '../loading/script-location.ts';

export interface PowRunner {
  /** Call it at most once. Rejects with `cancelled` when the signal aborts, `unsupported` when the browser cannot run it. */
  solve(task: PowTask, onProgress: OnProgress): Promise<PowSolution>;
}

/** Starts the engine at once, while the challenge is still being fetched. */
export function preparePow(location: ScriptLocation, startEngine: StartEngine, signal: AbortSignal): PowRunner {
  let onProgress: OnProgress | undefined;
  let engine: PowEngine | undefined;
  const outcome = new Promise<PowSolution | null | 'no-engine'>((resolve) => {
    signal.addEventListener('abort', () => resolve(null));
    engine = startEngine(location.base, {
      onMessage(message) {
        if ('done' in message) onProgress?.(message.done, message.x);
        else resolve(message.solution);
      },
      onFailure: () => resolve('no-engine'),
    });
  }).finally(() => engine?.stop());

  return {
    async solve(task, report) {
      onProgress = report;
      engine?.post(task);
      let solution = await outcome;
      if (solution === 'no-engine') {
        const solvePow = await loadAsset<SolvePow>(location, 'pow-worker');
        solution = await solvePow(task, report, () => signal.aborted, false);
      }
      if (signal.aborted) throw new CaptchaError('cancelled');
      if (solution === null) throw new CaptchaError('unsupported', task.lane);
      return solution;
    },
  };
}
