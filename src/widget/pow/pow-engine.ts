/**
 * Runs a proof of work outside the page's main thread, in a worker of the page's own origin. Only trying shows whether
 * the page's CSP allows one.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';
import type { PowSolution } from './pow-task.ts';
import { assetUrl } from '../loading/asset-loader.ts';

export type WorkerMessage = { done: number; x?: string } | { solution: PowSolution | null };

export interface PowEngine {
  post(task: PowTask): void;
  stop(): void;
}
export interface EngineEvents {
  onMessage: (message: WorkerMessage) => void;
  /** The engine did not start, for example because of the page's CSP. */
  onFailure: () => void;
}

export type StartEngine = (base: string, events: EngineEvents) => PowEngine;

/** For a page of the same origin as the script. */
export function startWorker(base: string, events: EngineEvents): PowEngine {
  let worker: Worker | undefined;
  try {
    worker = new Worker(assetUrl(base, 'pow-worker'));
    worker.addEventListener('error', events.onFailure);
    worker.addEventListener('message', (event: MessageEvent<WorkerMessage>) => events.onMessage(event.data));
  } catch {
    events.onFailure();
  }
  return {
    post: (task) => worker?.postMessage(task, []),
    stop: () => worker?.terminate(),
  };
}
