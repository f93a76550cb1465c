/**
 * Sends every request to its origin: as the edge does it, or, with `WAY=copied`, as a copy of the request that the
 * runtime makes, changed in the same way. For a comparison of what an origin receives.
 */
import { readFacts, type RequestFacts } from '../../../src/edge/request/facts.ts';
import { readOwnCookies } from '../../../src/edge/request/cookies.ts';
import { sendToOrigin } from '../../../src/edge/origin/send-to-origin.ts';

interface Env {
  ORIGIN_URL: string;
  WAY: 'edge' | 'copied';
}

const signals = {
  environment: { signals: { kind: 'headers', secret: 'nobody-knows-this' } },
  categories: { of: () => [] },
} as const;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const facts = { ...readFacts(request, 0, signals), requestId: 'the-id' };
    const response = env.WAY === 'edge' ? await byEdge(facts, env) : await copied(facts, env);
    return new Response(response.body, response);
  },
};

function byEdge(facts: RequestFacts, { ORIGIN_URL: base }: Env): Promise<Response> {
  const vouched = { decision: 'allow', hasSolved: false, preflight: false, body: null };
  return sendToOrigin(facts, { kind: 'url', base, resolveOverride: null }, null, vouched);
}

function copied({ request, requestId, headers: { forged, cookie }, target, signals: { ip } }: RequestFacts, env: Env) {
  const outgoing = new Request(env.ORIGIN_URL + target.received, request);
  const { headers } = outgoing;
  for (const name of forged) headers.delete(name);
  if (cookie !== null) {
    const { others } = readOwnCookies(cookie);
    if (others === null) headers.delete('cookie');
    else headers.set('cookie', others);
  }
  headers.set('x-protect-request-id', requestId);
  headers.set('x-protect-decision', 'allow');
  headers.set('x-protect-verified', 'false');
  if (ip !== null) headers.set('x-forwarded-for', ip);
  headers.set('x-forwarded-host', target.host);
  headers.set('x-forwarded-proto', target.scheme);
  return fetch(outgoing);
}
