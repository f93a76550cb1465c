/**
 * The script of `frame.html`, an empty page on the service's origin. It runs a worker for the widget in the page around
 * it. It only computes proofs of work and holds no data, so any page may use it.
 */
import type { PowTask } from '../contract/captcha/challenge-api.ts';
import { scriptLocation } from './loading/script-location.ts';
import { startWorker } from './pow/pow-engine.ts';

const { base } = scriptLocation();

window.addEventListener('message', (event) => {
  const [port] = event.ports;
  if (event.source !== parent || port === undefined) return;
  const engine = startWorker(base, {
    onMessage: (message) => port.postMessage(message),
    onFailure: () => port.postMessage(null),
  });
  port.addEventListener('message', (task: MessageEvent<PowTask>) => engine.post(task.data));
  port.start();
});
parent.postMessage('gatehouse', '*');
