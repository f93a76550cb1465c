/**
 * The script of `frame.html`, a page of the service's origin without content: lends its worker to the
 * widget in the page around it. It computes what it is given and holds nothing, so it need not care
 * who asks.
 */
import type { PowTask } from '../contract/captcha/challenge-api.ts';
import { startWorker } from './pow/pow-engine.ts';
import { scriptLocation } from './script-location.ts';

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
