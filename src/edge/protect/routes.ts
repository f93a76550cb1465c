/**
 * `/__protect/*`: the edge's own first-party endpoints. The request is judged before an endpoint runs; a blocked visitor
 * gets no further. POSTs come from the site's own pages only, are small, and are limited per network.
 */
import { protectPrefix } from '../../contract/edge/headers.ts';
import { error } from '../answer/answer.ts';
import { isJudged } from '../decide/context.ts';
import type { RequestContext } from '../decide/context.ts';
import { handled } from '../gate.ts';
import type { Handler, NextStep } from '../gate.ts';
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
  /** For everybody: a file that the page of a blocked visitor loads. */
  forBlocked?: boolean;
}

/** Wraps an endpoint: what it answers is recorded as internal, and passes a blocked visitor only where it says so. */
function endpoint(next: NextStep, options: EndpointOptions = {}): Handler {
  return handled((judged, isolate, waitUntil) => {
    const context = internal(judged, options);
    if (context.verdict.decision === 'block') return answerWith(context, { kind: 'block' });
    const refusal = refusalOf(context.facts, isolate.postCounts);
    return refusal ? answerWith(context, refusal) : next(context, isolate, waitUntil);
  });
}

/** A challenge never stands before the endpoints that solve it. */
function internal(context: RequestContext, options: EndpointOptions): RequestContext {
  const { verdict, path } = context;
  const { pathType = 'json', forTools = false, forBlocked = false } = options;
  const typed = path && { ...path, pathType };
  if (!isJudged(context)) return { ...context, path: typed, verdict: { ...verdict, source: 'internal' } };
  const isRefused = verdict.decision === 'block' && verdict.enforcementPolicy === 'enforce';
  const isBlocked = isRefused && !forBlocked && !(forTools && ['risk', 'error'].includes(verdict.source));
  const internalVerdict = isBlocked
    ? { ...verdict, source: 'internal' as const }
    : { ...verdict, decision: 'allow' as const, source: 'internal' as const, status: null };
  return { ...context, path: typed, verdict: internalVerdict };
}

const endpoints: ReadonlyMap<string, Handler> = new Map([
  // Monitors are tools, and many run in data centres.
  ['GET health', endpoint(health, { forTools: true })],
  ['GET copy.js', endpoint(serveScript, { forBlocked: true })],
  ['POST challenge', endpoint(passChallenge('challenge'))],
  ['POST solution', endpoint(passChallenge('solution'))],
  ['POST verify', endpoint(buyClearance)],
  ['POST session', endpoint(openSession)],
  ['POST telemetry', endpoint(passTelemetry)],
  ['GET wait', endpoint((context, { waitLane }) => waitLane.take(context), { pathType: 'html' })],
]);
const script = endpoint(serveScript);
const nothing = endpoint((context) => answerWith(context, error('API.NOT_FOUND', 'There is nothing at this address.')));

/** `path`: canonical, and it begins with `protectPrefix`. */
export function protectRoute(method: string, path: string): Handler {
  const asked = `${method === 'HEAD' ? 'GET' : method} ${path.slice(protectPrefix.length)}`;
  return endpoints.get(asked) ?? (/^GET [a-z-]+\.js$/.test(asked) ? script : nothing);
}
