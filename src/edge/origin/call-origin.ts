/** Calls the origin for a `forward` step, at most once, and hands its response on with the edge's headers. */
import type { EdgeEnvironment } from '../environment.ts';
import { header } from '../../contract/edge/headers.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { HeldReturn, RequestContext } from '../decide/context.ts';
import type { Forward } from '../step/step.ts';
import { annotated, sendToOrigin, visitorLocation } from './send-to-origin.ts';
import { injectProtectScript } from './inject.ts';
import { isOwnLoop } from './loop.ts';

export interface OriginPorts {
  environment: Pick<EdgeEnvironment, 'origin'>;
  /** Calls in a row that reached no origin, or this gate again. */
  originFailures: number;
  count: (name: string) => void;
}

/** Loop Detected (RFC 5842). */
const LOOP_STATUS = 508;

/** `loop`: the request came out of this gate already. `already-sent`: its seal was spent before. */
export type OriginFault = 'loop' | 'already-sent' | 'unreachable';

export interface OriginResponse {
  response: Response;
  originMs: number;
}

/** `spend`: whether a held submission may be sent, which is true once. */
export async function callOrigin(
  { context, verified, body }: Forward,
  ports: OriginPorts,
  spend: (held: HeldReturn) => Promise<boolean>,
): Promise<Result<OriginResponse, OriginFault>> {
  const { facts, config, verdict, clearance, held } = context;
  const { environment, count } = ports;
  if (config && isOwnLoop(facts.headers, config)) {
    count('origin_loops');
    return failed('loop');
  }
  if (held && !(await spend(held))) return failed('already-sent');
  const calledAtMs = Date.now();
  try {
    const response = await sendToOrigin(facts, environment.origin, config, {
      decision: verdict.decision,
      verified: verified === true || clearance !== null,
      preflight: verdict.source === 'preflight',
      body,
    });
    // The response to a loop is the gate's own.
    const isLoop = response.status === LOOP_STATUS && response.headers.has(header.requestId);
    ports.originFailures = isLoop ? ports.originFailures + 1 : 0;
    return ok({ response, originMs: Date.now() - calledAtMs });
  } catch (error) {
    // The runtime reports a visitor who leaves during an upload like an origin that hangs up. Nobody may raise an alarm
    // so, and an origin that is down fails for requests without a body too.
    const isUpload = body === null && facts.request.body !== null;
    if (!isUpload) ports.originFailures++;
    count(isUpload ? 'uploads_broken' : 'origin_failures');
    const { requestId } = facts;
    const event = isUpload ? 'upload-broken' : 'origin-unreachable';
    console.error(JSON.stringify({ level: 'error', event, requestId, message: String(error) }));
    return failed('unreachable');
  }
}

/** The origin's response as the visitor gets it. */
export async function handedOn({ context }: Forward, response: Response, ports: OriginPorts): Promise<Response> {
  if (!context.learnedCookie) return finished(context, response, ports);
  return finished({ ...context, cookies: [...context.cookies, await context.learnedCookie()] }, response, ports);
}

function finished(
  context: RequestContext,
  response: Response,
  { environment, count }: OriginPorts,
): Response | Promise<Response> {
  const location = visitorLocation(response, context.facts.target, environment.origin);
  const handed = annotated(response, context, location);
  return context.config?.policy.autoInject === true ? injectProtectScript(handed, context.facts, count) : handed;
}
