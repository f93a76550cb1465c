/**
 * Runs a proof of work when the widget comes from another host than its page. A worker must have its page's origin, and
 * strict policies forbid `blob:`, so the worker runs in a frame of the service's origin. This is a file of its own
 * because the gate's own pages do not need it.
 */
import { type EngineEvents, type PowEngine, startWorker, type WorkerMessage } from './pow-engine.ts';

/** Without a message by then, the page's CSP refused the frame, or the network is too slow. */
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
  // The frame's script sends its message before the load event. A refused frame loads too, without a message.
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
    // The port queues messages until the frame has its other end.
    post: (task) => channel.port1.postMessage(task),
    stop() {
      clearTimeout(timer);
      removeEventListener('message', onReady as EventListener);
      channel.port1.close();
      frame.remove();
    },
  };
}
