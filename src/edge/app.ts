/**
 * The front door: `/__protect/*` are the edge's own endpoints, everything else goes through the gate. The
 * Worker of each mode routes every request by its canonical path; its scheduled run keeps the last known good config
 * and rules in KV. A Worker that is not configured refuses every request and logs what is missing.
 */
import { gate, refuse } from './gate.ts';
import { newEventId } from '../logsink/event-id.ts';
import { isolateOf } from './isolate/isolate.ts';
import type { EdgeMode } from './isolate/mode.ts';
import { protectRoute } from './protect/routes.ts';
import { protectPrefix } from '../contract/edge/headers.ts';
import { readFacts } from './request/facts.ts';
import type { RequestFacts } from './request/facts.ts';

export function edgeWorker(mode: EdgeMode) {
  return {
    fetch(request: Request, env: object, ctx: ExecutionContext): Promise<Response> | Response {
      const reading = isolateOf(env, mode);
      if (!reading.ok) return notConfigured();
      const isolate = reading.value;
      let facts: RequestFacts;
      try {
        facts = readFacts(request, Date.now(), isolate);
      } catch (error) {
        // There is nothing to judge or to record. Crafted input must not open the gate.
        return refuse(isolate, newEventId(Date.now()), error);
      }
      if (facts.signals.isAddressUnread) {
        isolate.unreadAddresses++;
        isolate.count('unreadable_addresses');
      }
      const { path } = facts.target;
      const handle = path.startsWith(protectPrefix) ? protectRoute(request.method, path) : gate;
      return handle(facts, isolate, ctx);
    },

    async scheduled(_controller: ScheduledController, env: object): Promise<void> {
      const reading = isolateOf(env, mode);
      if (!reading.ok) throw new Error(reading.error.join('; '));
      const done = await mode.keepLastKnownGood(reading.value);
      if (done) return;
      console.error(JSON.stringify({ level: 'error', event: 'kv-not-synced' }));
      // The platform lists the run as failed.
      throw new Error('kv-not-synced');
    },
  };
}

function notConfigured(): Response {
  return new Response('This gate is not configured. Its log says what is missing.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '60' },
  });
}
