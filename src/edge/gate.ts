/**
 * One request, top to bottom (design 3): canonical path, signals, session, decide, answer, and one
 * record whatever happened. Each step that can end the way returns; only `respond` makes bytes.
 */
import { protectPrefix } from '../contract/edge/headers.ts';
import { canonicalTarget } from './request/canonical-path.ts';
import { challengeOrVerify } from './challenge/challenged.ts';
import type { Edge } from './isolate/edge.ts';
import { answerAfterFailure, answerWithoutRuleset } from './failure.ts';
import { beginPassage } from './request/passage.ts';
import type { Passage } from './request/passage.ts';
import { passOn } from './origin/pass-on.ts';
import { answerProtectCall } from './protect/routes.ts';
import { recordOf } from './record.ts';
import { bearsReplayMark, bringsSeal, restoreSubmission, withoutReplayMark } from './challenge/replay.ts';
import { badRequest, block, foreignHost, noSession } from './answer/respond.ts';
import { readSignals } from './request/signals.ts';
import { refreshBehind } from './session/session-refresh.ts';
import { verdictOf } from './decide/verdict.ts';

export function gate(request: Request, edge: Edge, ctx: ExecutionContext): Promise<Response> {
  const answered = answerAndRecord(request, edge, ctx);
  // A visitor who hangs up ends his request on the spot; without this nobody would hear of it.
  ctx.waitUntil(answered);
  return answered;
}

async function answerAndRecord(request: Request, edge: Edge, ctx: ExecutionContext): Promise<Response> {
  const passage = beginPassage(request, canonicalTarget(request.url), Date.now());
  passage.pageTexts = edge.pageTexts;
  let response: Response | null = null;
  try {
    response = await decideAndAnswer(passage, edge, ctx);
  } catch (error) {
    response = await answerAfterFailure(passage, edge, error);
  } finally {
    if (passage.heldBody) edge.bodies.release(passage.heldBody);
    const from = {
      instanceId: edge.instanceId,
      version: edge.environment.version,
      isolate: edge.log.isolateId,
      seq: edge.log.nextSeq(),
    };
    edge.log.add(recordOf(passage, response?.status ?? 0, from), (work) => ctx.waitUntil(work));
  }
  return response;
}

async function decideAndAnswer(passage: Passage, edge: Edge, ctx: ExecutionContext): Promise<Response> {
  const { nowMs } = passage;
  if (!passage.target) return badRequest(passage);

  const waiting = edge.feed.ready(nowMs, (work) => ctx.waitUntil(work));
  if (waiting) await waiting;
  const { config, ruleset } = edge.feed.state;
  passage.config = config;
  passage.rulesetVersion = ruleset?.version ?? 0;

  const signals = readSignals(passage.headers, passage.request.cf, edge.environment.signals, edge.categories);
  passage.signals = signals;
  if (bearsReplayMark(passage.target.query)) {
    const refusal = bringsSeal(passage.request) ? await restoreSubmission(passage, edge) : null;
    if (refusal) return refusal;
    if (!passage.replay) passage.target = withoutReplayMark(passage.target) ?? passage.target;
  }
  const { request, target } = passage;
  const isProtectCall = target.path.startsWith(protectPrefix);
  if (config) passage.path = config.pathPolicy(target, request.method);
  if (config?.hosts && !config.hosts.has(hostName(target.host))) return foreignHost(passage);
  if (!config || !ruleset) {
    return isProtectCall ? answerProtectCall(passage, edge, ctx) : answerWithoutRuleset(passage, edge);
  }

  const { cookie: cookies, fetchDestination } = passage.headers;
  const reading = edge.sessions.read(cookies, config, signals, nowMs);
  const session = reading instanceof Promise ? await reading : reading;
  const fromOpenPage = fetchDestination === 'empty';
  const held = edge.clearances.read(cookies, config, signals, nowMs, fromOpenPage);
  const clearance = held instanceof Promise ? await held : held;
  passage.jti = session.jti ?? clearance?.jti ?? null;
  passage.clearance = clearance;

  const verdict = verdictOf({
    policy: config.policy,
    path: passage.path!,
    method: request.method,
    preflight: isPreflight(request),
    signals,
    match: ruleset.match(signals, Math.floor(nowMs / 1000)),
    rulesetVersion: ruleset.version,
    session,
    clearance,
  });
  passage.verdict = verdict;
  if (session.refresh !== null) refreshBehind(passage, edge, session.refresh, ctx);

  if (isProtectCall) return answerProtectCall(passage, edge, ctx);
  if (verdict.enforcementPolicy !== 'enforce') return passOn(passage, edge);
  switch (verdict.decision) {
    case 'block':
      return block(passage);
    case 'challenge':
      return verdict.source === 'no-session' ? noSession(passage) : challengeOrVerify(passage, edge);
    case 'allow':
      return passOn(passage, edge);
  }
}

/** A CORS preflight as the fetch standard defines it; any other OPTIONS is a request like the rest. */
function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');
}

/** Without the port and the dot of a full name; an IPv6 literal keeps its brackets. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/\.?(?::\d+)?$/, '');
}
