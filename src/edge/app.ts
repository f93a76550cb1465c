/**
 * The front door: one Hono app. Its middleware reads what a request shows; `/__protect/*` are the edge's own endpoints, and
 * everything else goes through the gate. Requests are routed by their canonical path. A Worker that is not configured
 * refuses every request and logs what is missing. The scheduled run keeps the last known good config and rules in KV.
 */
import { Hono } from 'hono';
import { newEventId } from '../logsink/event-id.ts';
import { refuse, throughGate, type EdgeApp } from './gate.ts';
import { type EdgeMode, isolateOf } from './isolate/isolate.ts';
import { protectRoutes } from './protect/routes.ts';
import { canonicalTarget } from '../decide/request-target.ts';
import { readFacts } from './request/facts.ts';

/**
 * Hono wraps the response to a HEAD anew, and a status above 599 cannot be wrapped. Such a response of an origin goes to
 * the visitor as it came.
 */
const beyond599 = new WeakMap<Request, Response>();

export function edgeWorker(mode: EdgeMode) {
  const app = edgeApp(mode);
  return {
    async fetch(request: Request, env: object, execution: ExecutionContext): Promise<Response> {
      try {
        return await app.fetch(request, env, execution);
      } catch (error) {
        const response = beyond599.get(request);
        if (response) return response;
        throw error;
      }
    },

    async scheduled(_controller: ScheduledController, env: object): Promise<void> {
      const reading = isolateOf(env, mode);
      if (!reading.ok) throw new Error(reading.error.join('; '));
      const missing = await mode.keepLastKnownGood(reading.value);
      if (missing.length === 0) return;
      const message = 'KV keeps what it had. The next run, a minute later, copies again; visitors notice nothing.';
      console.error(JSON.stringify({ level: 'error', event: 'kv-not-synced', missing, message }));
      // The platform lists the run as failed.
      throw new Error('kv-not-synced');
    },
  };
}

export function edgeApp(mode: EdgeMode): Hono<EdgeApp> {
  const app = new Hono<EdgeApp>({ getPath: ({ url }) => canonicalTarget(url)?.path ?? '/' });
  app.use(async (c, next) => {
    const reading = isolateOf(c.env, mode);
    if (!reading.ok) return notConfigured();
    const isolate = reading.value;
    c.set('isolate', isolate);
    const facts = readFacts(c.req.raw, Date.now(), isolate);
    c.set('facts', facts);
    if (facts.signals.isAddressUnread) {
      isolate.unreadAddresses++;
      isolate.count('unreadable_addresses');
    }
    await next();
    if (c.req.method === 'HEAD' && c.res.status > 599) beyond599.set(c.req.raw, c.res);
    return undefined;
  });
  app.route('/__protect', protectRoutes);
  app.all('*', throughGate());
  // Before the gate there is nothing to judge or to record, and the gate itself never throws. Crafted input must not open it.
  app.onError((error, c) => {
    if (!('isolate' in c.var)) throw error;
    return refuse(c.var.isolate, newEventId(Date.now()), error);
  });
  return app;
}

function notConfigured(): Response {
  return new Response('This gate is not configured. Its log says what is missing.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '60' },
  });
}
