/**
 * The allow path: one call to the origin, its answer handed on with the edge's headers. A learned
 * clearance or a renewed session travels with it.
 */
import { clearanceCookie } from '../session/clearance.ts';
import type { Edge } from '../isolate/edge.ts';
import { annotate, forward, visitorLocation } from './forward.ts';
import { injectProtectScript } from './inject.ts';
import { isOwnLoop } from './loop.ts';
import type { Passage } from '../request/passage.ts';
import { spendReplay } from '../challenge/replay.ts';
import { message } from '../answer/respond.ts';

/** `body`: set where a submission had to be read. */
export async function passOn(
  passage: Passage,
  edge: Edge,
  body: Uint8Array<ArrayBuffer> | null = null,
): Promise<Response> {
  const { request, config, verdict, signals, requestId, clearance, nowMs } = passage;
  const target = passage.target!;
  const { origin } = edge.environment;
  if (config && isOwnLoop(passage.headers, config)) {
    return message(passage, 'unavailable', 'API.LOOP_DETECTED', 'The gate was reached through itself.');
  }
  if (clearance?.learned && config) passage.cookies.push(await clearanceCookie(clearance.learned, config, nowMs));

  if (passage.replay && !(await spendReplay(edge, passage.replay))) {
    return message(
      passage,
      'send-again',
      'API.CONFLICT',
      'This submission was already sent, or could not be sent safely.',
    );
  }

  const decision = verdict?.decision ?? 'allow';
  let response: Response;
  const calledAtMs = Date.now();
  try {
    passage.originCalled = true;
    response = await forward(request, passage.headers, target, origin, config, {
      requestId,
      decision,
      verified: passage.verified === true || clearance !== null,
      ip: signals?.ip ?? null,
      nowMs,
      dropCookies: verdict?.source === 'preflight',
      body,
    });
  } catch (error) {
    edge.count('origin_failures');
    console.error(JSON.stringify({ level: 'error', event: 'origin-unreachable', requestId, message: String(error) }));
    return message(passage, 'origin-unreachable', 'API.ORIGIN_UNREACHABLE', 'The origin could not be reached.');
  }
  passage.originMs = Date.now() - calledAtMs;
  const location = visitorLocation(response, target, origin);
  const annotated = annotate(response, requestId, decision, verdict?.status ?? null, passage.cookies, location);
  return config?.policy.autoInject === true ? injectProtectScript(annotated, passage) : annotated;
}
