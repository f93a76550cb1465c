/**
 * The edge Worker of a mode (design 2): every request goes through the gate; the scheduled run keeps
 * the last known good in KV. A Worker that is not configured refuses, and says in its log what is missing.
 */
import { edgeOf } from './isolate/edge.ts';
import type { EdgeMode } from './isolate/edge-mode.ts';
import { gate } from './gate.ts';

export function edgeWorker(mode: EdgeMode) {
  return {
    fetch(request: Request, env: object, ctx: ExecutionContext): Promise<Response> | Response {
      const reading = edgeOf(env, mode);
      return reading.ok ? gate(request, reading.edge, ctx) : notConfigured();
    },

    async scheduled(_controller: ScheduledController, env: object): Promise<void> {
      const reading = edgeOf(env, mode);
      if (!reading.ok) throw new Error(reading.mistakes.join('; '));
      const done = await mode.keepLastKnownGood(reading.edge);
      if (!done) console.error(JSON.stringify({ level: 'error', event: 'kv-not-synced' }));
    },
  };
}

function notConfigured(): Response {
  return new Response('This gate is not configured; its log says what is missing.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '60' },
  });
}
