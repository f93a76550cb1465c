/**
 * An edge Worker with its I/O counted: KV reads and writes, and every subrequest. `/__count` returns and resets the
 * counts, `/__scheduled` fires the scheduled run.
 */

import type { edgeWorker } from '../../../src/edge/app.ts';

interface Counts {
  kvReads: number;
  kvWrites: number;
  fetches: string[];
}

let counts: Counts = { kvReads: 0, kvWrites: 0, fetches: [] };
const realFetch = globalThis.fetch;
globalThis.fetch = ((input: Request | string, init?: RequestInit) => {
  const url = typeof input === 'string' ? input : input.url;
  counts.fetches.push(url);
  return realFetch(input, init);
}) as never;

function counted(kv: Record<string, (...parameters: unknown[]) => unknown>): object {
  return {
    get: (...parameters: unknown[]) => (counts.kvReads++, kv['get']!(...parameters)),
    put: (...parameters: unknown[]) => (counts.kvWrites++, kv['put']!(...parameters)),
    delete: (...parameters: unknown[]) => kv['delete']!(...parameters),
  };
}

type EdgeWorker = ReturnType<typeof edgeWorker>;

export function counting(edge: EdgeWorker) {
  let wrapped: Record<string, unknown> | null = null;
  return {
    async fetch(request: Request, env: Record<string, unknown>, ctx: never): Promise<Response> {
      wrapped ??= env['GATE_KV'] ? { ...env, GATE_KV: counted(env['GATE_KV'] as never) } : { ...env };
      const path = new URL(request.url).pathname;
      if (path === '/__count') {
        const told = Response.json(counts);
        counts = { kvReads: 0, kvWrites: 0, fetches: [] };
        return told;
      }
      if (path === '/__scheduled') {
        await edge.scheduled(null as never, wrapped);
        return new Response('done');
      }
      return edge.fetch(request, wrapped, ctx);
    },
  };
}
