/**
 * `/__protect/*`: the edge's own first-party endpoints. The request is judged before an endpoint runs; a blocked visitor
 * gets no further. POSTs come from the site's own pages only, are small, and are limited per network.
 */
import { Hono } from 'hono/tiny';
import { error } from '../answer/answer.ts';
import { isJudged } from '../decide/context.ts';
import type { RequestContext } from '../decide/context.ts';
import { handled } from '../gate.ts';
import type { EdgeBindings, NextStep } from '../gate.ts';
import { answerWith } from '../step/step.ts';
import { refusalOf } from './admission.ts';
import { buyClearance } from './buy-clearance.ts';
import { health } from './health.ts';
import { openSession } from './open-session.ts';
import { passChallenge } from './pass-challenge.ts';
import { passTelemetry } from './pass-telemetry.ts';
import { serveScript } from './serve-script.ts';

interface EndpointOptions {
  pathType?: 'html' | 'json';
  /** Also for clients who are blocked elsewhere for their risk, or because the proxy hides their address. */
  forTools?: boolean;
}

/** Wraps an endpoint: what it answers is recorded as internal, and never passes a blocked visitor. */
function endpoint(next: NextStep, { pathType = 'json', forTools = false }: EndpointOptions = {}) {
  return handled((judged, isolate, waitUntil) => {
    const context = internal(judged, pathType, forTools);
    if (context.verdict.decision === 'block') return answerWith(context, { kind: 'block' });
    const refusal = refusalOf(context.facts, isolate.postCounts);
    return refusal ? answerWith(context, refusal) : next(context, isolate, waitUntil);
  });
}

/** A challenge never stands before the endpoints that solve it. */
function internal(context: RequestContext, pathType: 'html' | 'json', forTools: boolean): RequestContext {
  const { verdict, path } = context;
  const typed = path && { ...path, pathType };
  if (!isJudged(context)) return { ...context, path: typed, verdict: { ...verdict, source: 'internal' } };
  const isRefused = verdict.decision === 'block' && verdict.enforcementPolicy === 'enforce';
  const isBlocked = isRefused && !(forTools && ['risk', 'error'].includes(verdict.source));
  const internalVerdict = isBlocked
    ? { ...verdict, source: 'internal' as const }
    : { ...verdict, decision: 'allow' as const, source: 'internal' as const, status: null };
  return { ...context, path: typed, verdict: internalVerdict };
}

export const protectRoutes = new Hono<{ Bindings: EdgeBindings }>();
// Monitors are tools, and many run in data centres.
protectRoutes.get('/health', endpoint(health, { forTools: true }));
protectRoutes.post('/challenge', endpoint(passChallenge('challenge')));
protectRoutes.post('/solution', endpoint(passChallenge('solution')));
protectRoutes.post('/verify', endpoint(buyClearance));
protectRoutes.post('/session', endpoint(openSession));
protectRoutes.post('/telemetry', endpoint(passTelemetry));
protectRoutes.get(
  '/wait',
  endpoint((context, { waitLane }) => waitLane.take(context), { pathType: 'html' }),
);
protectRoutes.get('/:file{[a-z-]+\\.js}', endpoint(serveScript));
protectRoutes.all(
  '/:rest{.*}',
  endpoint((context) => answerWith(context, error('API.NOT_FOUND', 'There is nothing at this address.'))),
);
