/**
 * Proof of work off the main thread, as a file of its own: no blob, no eval, no WASM, so that
 * `worker-src 'self'` is enough. One task per worker; cancelling is terminating. Loaded as a plain
 * script it offers the same solver to the page, for places where no worker may run.
 */
import type { PowTask } from '../contract/captcha/challenge-api.ts';
import { provide } from './asset-loader.ts';
import { solvePow } from './pow/pow-task.ts';

/** Repaints are 16 ms apart; more messages than that would only delay the squarings. */
const PROGRESS_INTERVAL_MS = 30;

if (typeof document === 'undefined') {
  addEventListener('message', (event: MessageEvent<PowTask>) => {
    let last = 0;
    const onProgress = (done: number): void => {
      const now = performance.now();
      if (now - last < PROGRESS_INTERVAL_MS) return;
      last = now;
      postMessage({ done });
    };
    solvePow(event.data, onProgress, () => false, true).then(
      (solution) => postMessage({ solution }),
      () => postMessage({ solution: null }),
    );
  });
} else {
  provide('pow-worker', solvePow);
}
