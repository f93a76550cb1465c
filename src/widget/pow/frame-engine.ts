/**
 * Where a proof of work runs when the widget came from another host than its page: a worker must be of its
 * page's origin, and `blob:` is what strict policies forbid, so it lives in a frame of the service's
 * origin. Apart from the worker, because the gate's own pages never need it.
 */
import { startWorker } from './pow-engine.ts';
import type { EngineEvents, PowEngine, WorkerMessage } from './pow-engine.ts';

/** A frame that has not spoken by then was refused by the page's policy, or its network is hopeless. */
const FRAME_READY_TIMEOUT_MS = 2500;
const FRAME_SILENT_AFTER_LOAD_MS = 150;

export function startEngine(base: string, events: EngineEvents): PowEngine {
  return new URL(base, location.href).origin === location.origin ? startWorker(base, events) : startFrame(base, events);
}

function startFrame(base: string, events: EngineEvents): PowEngine {
  const frame = document.createElement('iframe');
  const { origin } = new URL(base);
  const channel = new MessageChannel();
  let timer = setTimeout(events.onFailure, FRAME_READY_TIMEOUT_MS);
  // Its script speaks before the load event; a page that was refused loads too, and says nothing.
  frame.addEventListener('load', () => {
    if (ready) return;
    clearTimeout(timer);
    timer = setTimeout(events.onFailure, FRAME_SILENT_AFTER_LOAD_MS);
  });
  let ready = false;
  function onReady(event: MessageEvent): void {
    if (event.source !== frame.contentWindow || event.origin !== origin) return;
    ready = true;
    clearTimeout(timer);
    frame.contentWindow?.postMessage('gatehouse', origin, [channel.port2]);
  }
  addEventListener('message', onReady as EventListener);
  channel.port1.addEventListener('message', (event: MessageEvent<WorkerMessage | null>) => {
    if (event.data === null) events.onFailure();
    else events.onMessage(event.data);
  });
  channel.port1.start();
  frame.hidden = true;
  frame.title = '';
  frame.setAttribute('aria-hidden', 'true');
  frame.src = `${base}/frame.html`;
  document.body.append(frame);
  return {
    // The port keeps a message until the frame has taken its other end.
    post: (task) => channel.port1.postMessage(task),
    stop() {
      clearTimeout(timer);
      removeEventListener('message', onReady as EventListener);
      channel.port1.close();
      frame.remove();
    },
  };
}
