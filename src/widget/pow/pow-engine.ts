/**
 * The place off the page's main thread where a proof of work runs: a worker of the page's own origin.
 * Whether the page's CSP allows it is found out by trying.
 */
import type { PowTask } from '../../contract/captcha/challenge-api.ts';
import { assetFile } from '../asset-versions.ts';
import type { PowSolution } from './pow-task.ts';
import { scriptUrl } from '../trusted-url.ts';

export type WorkerMessage = { done: number } | { solution: PowSolution | null };

export interface PowEngine {
  post(task: PowTask): void;
  stop(): void;
}
export interface EngineEvents {
  onMessage: (message: WorkerMessage) => void;
  /** It could not be started; a CSP refusal shows here. */
  onFailure: () => void;
}

export type StartEngine = (base: string, events: EngineEvents) => PowEngine;

/** For a page of the same origin as the script. */
export function startWorker(base: string, events: EngineEvents): PowEngine {
  let worker: Worker | undefined;
  try {
    worker = new Worker(scriptUrl(base, assetFile('pow-worker')));
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
