/**
 * Proof of work in a worker. It is a file of its own, without blob, eval or WASM, so that `worker-src 'self'` is
 * enough. A worker solves one task and is cancelled by terminating it. Loaded as a plain script, it gives the page the
 * same solver, for pages where no worker may run.
 */
import type { PowTask } from '../contract/captcha/challenge-api.ts';
import { provide } from './loading/asset-loader.ts';
import { type OnProgress, solvePow } from './pow/pow-task.ts';

/** Repaints are 16 ms apart; more messages would only delay the computation. */
const PROGRESS_INTERVAL_MS = 30;

if (typeof document === 'undefined') {
  addEventListener('message', (event: MessageEvent<PowTask>) => {
    let reportedAtMs = 0;
    const onProgress: OnProgress = (done, x) => {
      const nowMs = performance.now();
      if (nowMs - reportedAtMs < PROGRESS_INTERVAL_MS) return;
      reportedAtMs = nowMs;
      postMessage({ done, x });
    };
    solvePow(event.data, onProgress, () => false, true).then(
      (solution) => postMessage({ solution }),
      () => postMessage({ solution: null }),
    );
  });
} else {
  provide('pow-worker', solvePow);
}
