/**
 * One request, top to bottom: facts, verdict, step, response, record. Everything before `carryOut` returns values; only
 * this file calls the origin and turns a step into a response, and it writes exactly one record per request.
 */
import { header } from '../contract/edge/headers.ts';
import { BAD_REQUEST, FOREIGN_HOST, message } from './answer/answer.ts';
import { respond } from './answer/respond.ts';
import { challengeStep } from './challenge/challenge-step.ts';
import { mayBringSeal, returnedSubmission, spendHeld } from './challenge/held-submission.ts';
import { isJudged, unjudged } from './decide/context.ts';
import type { JudgedContext, LimitsAsked, RequestContext } from './decide/context.ts';
import { judge } from './decide/judge.ts';
import { errorVerdict, pastBudget } from './decide/verdict.ts';
import type { Verdict } from './decide/verdict.ts';
import { limitStep } from './step/limit-step.ts';
import { reportException, stepAfterException, stepWithoutRuleset } from './step/failure.ts';
import type { Isolate } from './isolate/isolate.ts';
import { callOrigin, handedOn } from './origin/call-origin.ts';
import type { OriginFault } from './origin/call-origin.ts';
import { isForRobotsFile } from './origin/robots-file.ts';
import type { RobotsFiles } from './origin/robots-file.ts';
import { recordOf } from './step/record.ts';
import type { Outcome } from './step/record.ts';
import { hostName } from '../address/host-name.ts';
import { UNROUTABLE } from './request/canonical-path.ts';
import { isPageResponse } from './pending/page-or-file.ts';
import type { RequestFacts } from './request/facts.ts';
import { isAt } from './request/same-page.ts';
import { answerWith, forwardOn } from './step/step.ts';
import type { Answered, Forward, Step } from './step/step.ts';

export type Handler = (
  facts: RequestFacts,
  isolate: Isolate,
  execution: Pick<ExecutionContext, 'waitUntil'>,
) => Promise<Response>;
export type WaitUntil = (work: Promise<unknown>) => void;
/** From a context, judged where a ruleset is loaded, to what to do. */
export type NextStep = (context: RequestContext, isolate: Isolate, waitUntil: WaitUntil) => Step | Promise<Step>;

/** Every request that is not one of the edge's own endpoints. */
export const gate = handled((context, isolate, waitUntil) => {
  if (!isJudged(context)) return stepWithoutRuleset(context, isolate);
  const step = stepOf(context, isolate);
  return context.limits === null ? step : limitedStep(step, context, context.limits, isolate, waitUntil);
});

/** Whatever may go to the origin goes through the limits that its policies name. */
async function limitedStep(
  next: Step | Promise<Step>,
  context: JudgedContext,
  asked: LimitsAsked,
  isolate: Isolate,
  waitUntil: WaitUntil,
): Promise<Step> {
  const step = await next;
  if (step.kind !== 'forward') return step;
  return limitStep(step, context, asked, isolate, waitUntil, (challenged, read) =>
    challengeStep(challenged, isolate, read),
  );
}

function stepOf(context: JudgedContext, isolate: Isolate): Step | Promise<Step> {
  const { verdict } = context;
  if (verdict.enforcementPolicy !== 'enforce') return forwardOn(context);
  switch (verdict.decision) {
    case 'allow':
      if (verdict.redirect && !isAt(context.facts.target, verdict.redirect.location))
        return redirectStep(context, verdict.redirect);
      return isolate.robots && isForRobotsFile(context) ? robotsStep(context, isolate.robots) : forwardOn(context);
    case 'block':
      return answerWith(context, { kind: 'block' });
    case 'challenge':
      return verdict.source === 'no-session'
        ? answerWith(context, { kind: 'no-session' })
        : challengeStep(context, isolate);
  }
}

function redirectStep(context: JudgedContext, { location, status }: NonNullable<Verdict['redirect']>): Step {
  return answerWith(context, { kind: 'redirect', location, status, waitSeconds: 0 });
}

async function robotsStep(context: JudgedContext, robots: RobotsFiles): Promise<Step> {
  return answerWith(context, { kind: 'robots', text: await robots.textFor(context) });
}

/** A handler that judges the request, takes the next step, carries it out and records it. */
export function handled(next: NextStep): Handler {
  return function handleRequest(facts, isolate, execution) {
    const waitUntil: WaitUntil = (work) => execution.waitUntil(work);
    const responded = respondAndRecord(facts, isolate, next, waitUntil);
    // A visitor who hangs up ends the request at once. Without this it would leave no record.
    waitUntil(responded);
    return responded;
  };
}

async function respondAndRecord(
  facts: RequestFacts,
  isolate: Isolate,
  next: NextStep,
  waitUntil: WaitUntil,
): Promise<Response> {
  let step: Step;
  try {
    const context = await contextOf(facts, isolate, waitUntil);
    step = 'kind' in context ? context : await next(context, isolate, waitUntil);
  } catch (error) {
    step = stepAfterException(facts, isolate.feed.state, isolate, error);
  }
  const outcome = await carryOut(step, isolate);
  const { log, bodies, environment, instanceId } = isolate;
  bodies.release(facts.requestId);
  const from = { instanceId, version: environment.version, isolate: log.isolateId, seq: log.nextSeq() };
  log.add(recordOf(outcome, from), waitUntil);
  isolate.limits.report(facts.nowMs, waitUntil);
  return outcome.response;
}

/** Everything up to the verdict, or an answer where there is none to reach. */
async function contextOf(
  facts: RequestFacts,
  isolate: Isolate,
  waitUntil: WaitUntil,
): Promise<RequestContext | Answered> {
  if (facts.target === UNROUTABLE) return answerWith(unjudged(facts), BAD_REQUEST);
  const waiting = isolate.feed.ready(facts.nowMs, waitUntil);
  if (waiting) await waiting;
  const context = await contextFor({ facts, held: null }, isolate, waitUntil);
  // Decided before the body is read: a blocked visitor fills no memory.
  if ('kind' in context || !mayBringSeal(facts) || isRefused(context)) return context;
  const { config, rulesetVersion } = context;
  const returned = await returnedSubmission(facts, config, isolate);
  if (!returned.ok) return answerWith(unjudged(facts, { config, rulesetVersion }), returned.error);
  return contextFor(returned.value, isolate, waitUntil);
}

function isRefused({ verdict }: RequestContext): boolean {
  return verdict.decision === 'block' && verdict.enforcementPolicy === 'enforce';
}

function contextFor(
  asked: Pick<RequestContext, 'facts' | 'held'>,
  isolate: Isolate,
  waitUntil: WaitUntil,
): RequestContext | Answered | Promise<RequestContext> {
  const { config, ruleset } = isolate.feed.state;
  const known = { config, rulesetVersion: ruleset?.version ?? 0 };
  const { target, headers } = asked.facts;
  if (!config) return unjudged(asked.facts, { ...known, held: asked.held });
  const path = config.pathPolicy(target, headers.method);
  if (config.hosts && !config.hosts.has(hostName(target.host))) {
    const verdict = errorVerdict('block', 'The instance does not serve this host.', 'policy', 'policy:hosts');
    return answerWith(unjudged(asked.facts, { ...known, path, verdict }), FOREIGN_HOST);
  }
  if (!ruleset) return unjudged(asked.facts, { ...known, path, held: asked.held });
  return judge({ ...asked, config, path, ruleset }, isolate, waitUntil);
}

const originFaults = {
  loop: message(
    'unavailable',
    'API.LOOP_DETECTED',
    'This site is misconfigured: the gate forwards requests to itself.',
  ),
  'already-sent': message(
    'send-again',
    'API.CONFLICT',
    'This submission was already sent, or could not be sent safely.',
  ),
  unreachable: message('origin-unreachable', 'API.ORIGIN_UNREACHABLE', 'The site could not be reached. Try again.'),
} satisfies Record<OriginFault, object>;

const RESPONSE_LOST = message('origin-unreachable', 'API.ORIGIN_UNREACHABLE', 'The site’s response was lost.');

function carryOut(step: Step, isolate: Isolate): Promise<Outcome> {
  return step.kind === 'answer' ? answered(step, isolate) : forwarded(step, isolate);
}

async function forwarded(step: Forward, isolate: Isolate): Promise<Outcome> {
  const called = await callOrigin(step, isolate, (held) => spendHeld(isolate, held));
  if (step.counted) isolate.limits.responded(step.counted, called.ok ? called.value.response : null);
  if (!called.ok) return answered(answerWith(step.context, originFaults[called.error], step.verified), isolate);
  const { response, originMs } = called.value;
  try {
    const instead = await steppedBack(step, response, isolate);
    if (instead) {
      void response.body?.cancel();
      return { ...(await answered(instead, isolate)), originMs };
    }
    return { step, response: await handedOn(step, called.value, isolate), originMs };
  } catch (error) {
    reportException(step.context.facts.requestId, isolate, error);
    // The origin has acted: it is not called again, and the visitor must know that it may have worked.
    void response.body?.cancel();
    return { ...(await answered(answerWith(step.context, RESPONSE_LOST, step.verified), isolate)), originMs };
  }
}

/** Where a visitor without a session asked for a file and the origin sent a page: what they get past the budget. */
async function steppedBack({ context }: Forward, response: Response, isolate: Isolate): Promise<Answered | null> {
  const { facts, verdict } = context;
  if (context.pending !== 'file' || !isJudged(context) || !isPageResponse(response, facts.headers)) return null;
  const { policy } = context.config;
  const { signals, nowMs } = facts;
  const hasRoom = isolate.pending.hasRoom('page', signals.ip, policy.pendingBudget, nowMs);
  isolate.pending.take('page', signals.ip, nowMs);
  if (hasRoom) return null;
  const step = await stepOf({ ...context, verdict: pastBudget(verdict, policy) }, isolate);
  return step.kind === 'answer' ? step : null;
}

async function answered(step: Answered, isolate: Isolate): Promise<Outcome> {
  try {
    return { step, response: await respond(step.context, step.answer, isolate.pageTexts), originMs: null };
  } catch (error) {
    const { context } = step;
    const verdict = errorVerdict('block', 'An exception at the gate: blocked.');
    const refused = answerWith({ ...context, verdict }, { kind: 'block' });
    return { step: refused, response: refuse(isolate, context.facts.requestId, error), originMs: null };
  }
}

/** The last resort after an exception of ours: a bare refusal, which needs nothing that could fail as well. */
export function refuse(isolate: Isolate, requestId: string, error: unknown): Response {
  reportException(requestId, isolate, error);
  return new Response(`Forbidden\nReference: ${requestId}\n`, {
    status: 403,
    headers: { 'cache-control': 'no-store', [header.requestId]: requestId, [header.decision]: 'block' },
  });
}
