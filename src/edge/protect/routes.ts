/**
 * `/__protect/*`: the edge's own first-party endpoints. The request is judged before an endpoint runs; a blocked visitor
 * gets no further. POSTs come from the site's own pages only, are small, and are limited per network.
 */
import { Hono } from 'hono';
import { error } from '../answer/answer.ts';
import { isJudged, openSessionId, type RequestContext } from '../decide/context.ts';
import type { Verdict } from '../../decide/verdict.ts';
import { type EdgeApp, type Endpoint, throughGate } from '../gate.ts';
import { answerWith } from '../step/step.ts';
import { refusalOf } from './admission.ts';
import { buyClearance } from './buy-clearance.ts';
import { healthEndpoint } from './health.ts';
import { sessionEndpoint } from './open-session.ts';
import { challengeEndpoint } from './pass-challenge.ts';
import { passTelemetry } from './pass-telemetry.ts';
import { serveScript } from './serve-script.ts';

interface EndpointOptions {
  pathType?: 'html' | 'json';
  /** Also for clients who are blocked elsewhere for their risk, or because the proxy hides their address. */
  forTools?: boolean;
  /** For everybody: what the page of a blocked visitor loads, or links to. */
  forBlocked?: boolean;
}

/** Wraps an endpoint: what it answers is recorded as internal, and passes a blocked visitor only where it says so. */
function endpoint(answer: Endpoint, options: EndpointOptions = {}) {
  return throughGate((judged, isolate) => {
    const context = internal(judged, options);
    if (context.verdict.decision === 'block') return answerWith(context, { kind: 'block' });
    const refusal = refusalOf(context.facts, isolate.postCounts, payerOf(context));
    return refusal ? answerWith(context, refusal) : answer(context, isolate);
  });
}

/** Who has worked is not refused for what others of their network send. */
function payerOf(context: RequestContext): string | null {
  return openSessionId(context) ?? context.clearance?.jti ?? null;
}

/** A challenge never stands before the endpoints that solve it. */
function internal(context: RequestContext, options: EndpointOptions): RequestContext {
  const { verdict, path } = context;
  const { pathType = 'json', forTools = false, forBlocked = false } = options;
  const typed = path && { ...path, pathType };
  if (!isJudged(context)) return { ...context, path: typed, verdict: { ...verdict, source: 'internal' } };
  const isRefused = verdict.decision === 'block' && verdict.enforcementPolicy === 'enforce';
  const isBlocked = isRefused && !forBlocked && !(forTools && ['risk', 'error'].includes(verdict.source));
  // What was decided about the visitor is not what these addresses do, so the record does not say it.
  const served = {
    decision: 'allow',
    decidedBy: 'default',
    inputs: null,
    explain: null,
    level: null,
    status: null,
  } as const;
  const internalVerdict: Verdict = { ...verdict, ...(isBlocked ? {} : served), source: 'internal' };
  return { ...context, path: typed, verdict: internalVerdict };
}

export const protectRoutes = new Hono<EdgeApp>();
// Monitors are tools, and many run in data centres.
protectRoutes.get('/health', endpoint(healthEndpoint, { forTools: true }));
protectRoutes.get(
  '/help',
  endpoint((context) => answerWith(context, { kind: 'help' }), { pathType: 'html', forBlocked: true }),
);
protectRoutes.get('/copy.js', endpoint(serveScript, { forBlocked: true }));
protectRoutes.get('/:file{[a-z-]+\\.js}', endpoint(serveScript));
protectRoutes.post('/challenge', endpoint(challengeEndpoint('challenge')));
protectRoutes.post('/solution', endpoint(challengeEndpoint('solution')));
protectRoutes.post('/verify', endpoint(buyClearance));
protectRoutes.post('/session', endpoint(sessionEndpoint));
protectRoutes.post('/telemetry', endpoint(passTelemetry));
protectRoutes.get(
  '/wait',
  endpoint((context, { waitLane }) => waitLane.take(context), { pathType: 'html' }),
);
// Not `/*`, which would also take `/__protect`: that address is the site's.
protectRoutes.all(
  '/:rest{.*}',
  endpoint((context) => answerWith(context, error('API.NOT_FOUND', 'There is nothing at this address.'))),
);
