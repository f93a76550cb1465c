/**
 * The edge Worker (design 2): every request goes through the gate; the scheduled run keeps the last
 * known good in KV. A Worker that is not configured refuses, and says in its log what is missing.
 */
import { edgeOf } from './edge.ts';
import { backUpToKv } from './feed/kv-backup.ts';
import { syncFromManagementApi } from './feed/management-api.ts';
import { gate } from './gate.ts';

export default {
  fetch(request: Request, env: object, ctx: ExecutionContext): Promise<Response> | Response {
    const reading = edgeOf(env);
    return reading.ok ? gate(request, reading.edge, ctx) : notConfigured();
  },

  async scheduled(_controller: ScheduledController, env: object): Promise<void> {
    const reading = edgeOf(env);
    if (!reading.ok) throw new Error(reading.mistakes.join('; '));
    const { kv, seal, count, service, environment } = reading.edge;
    const { rules, serviceUrl } = environment;
    const done =
      rules.kind === 'service'
        ? await backUpToKv({ upstream: service, kv, seal, count })
        : await syncFromManagementApi({ ...rules, serviceUrl, kv, seal, count, fetch: (request) => fetch(request) });
    if (!done) console.error(JSON.stringify({ level: 'error', event: 'kv-not-synced' }));
  },
};

function notConfigured(): Response {
  return new Response('This gate is not configured; its log says what is missing.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '60' },
  });
}
