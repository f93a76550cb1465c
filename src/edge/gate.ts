/**
 * One request, top to bottom: rules, held submission, judgement, step, limits, origin or answer, record. What decides
 * returns values; only this file acts on them, and it writes exactly one record per request.
 */
import type { WaitUntil } from '../bytes/polled.ts';
import type { Handler } from 'hono';
import { hostName } from '../address/host-name.ts';
import { header } from '../contract/edge/headers.ts';
import { BAD_REQUEST, FOREIGN_HOST, message, type Answer } from './answer/answer.ts';
import { respond } from './answer/respond.ts';
import { challengeStep } from './challenge/challenge-step.ts';
import { NOT_RETURNED, returnedSubmission, spendHeld } from './challenge/held-submission.ts';
import { isJudged, type JudgedContext, type RequestContext, unjudged } from './decide/context.ts';
import { judge, type Judging } from './decide/judge.ts';
import { knownVisitor } from './decide/known-visitor.ts';
import { errorVerdict, isBlockedByRules, pastBudget, pastPace, type Verdict } from '../decide/verdict.ts';
import type { Isolate } from './isolate/isolate.ts';
import { callOrigin, handedOn, type OriginFault } from './origin/call-origin.ts';
import { isForRobotsFile } from './origin/robots-file.ts';
import { isFileResponse, type PendingKind } from './limits/pending-budget.ts';
import type { Pace, PacedVisitor } from './limits/pace.ts';
import type { CompiledConfig } from './config/compiled-config.ts';
import { SESSION_PACE } from '../decide/pace-limit.ts';
import type { PathType } from '../contract/vocabulary.ts';
import { PACE_WINDOW_MS, type PaceState, paceWindow, unitsOf } from '../risk/pace.ts';
import { UNROUTABLE, isAt } from '../decide/request-target.ts';
import { isTextForm, type RequestFacts } from './request/facts.ts';
import { reportException, stepAfterException, stepWithoutRuleset } from './step/failure.ts';
import { limitStep } from './challenge/limit-step.ts';
import { recordOf, type StepOutcome } from './step/record.ts';
import { answerWith, forwardOn, type Answered, type Forward, type Step } from './step/step.ts';
import { sessionCookie } from './session/sessions.ts';
import { sessionVisitorOf } from './session/visitor.ts';

/** What the middleware of the front door hands to its handlers. */
export interface EdgeApp {
  Bindings: object;
  Variables: { isolate: Isolate; facts: RequestFacts };
}

/** One of the edge's own addresses: it answers in place of the site. */
export type Endpoint = (context: RequestContext, isolate: Isolate) => Step | Promise<Step>;

/** A handler of the front door. `endpoint`: for one of the edge's own addresses. */
export function throughGate(endpoint: Endpoint | null = null): Handler<EdgeApp> {
  return ({ var: { facts, isolate }, executionCtx }) => {
    const waitUntil: WaitUntil = (work) => executionCtx.waitUntil(work);
    const responded = gate(facts, isolate, waitUntil, endpoint);
    // A visitor who hangs up ends the request at once. Without this it would leave no record.
    waitUntil(responded);
    return responded;
  };
}

/** Decides, acts on what was decided, and records it: once for each request, whatever fails. */
async function gate(
  arrived: RequestFacts,
  isolate: Isolate,
  waitUntil: WaitUntil,
  endpoint: Endpoint | null,
): Promise<Response> {
  const { feed, environment, instanceId, bodies, log, limits, pace, count } = isolate;
  let step: Step;
  try {
    step = await decidedStep(arrived, isolate, waitUntil, endpoint);
  } catch (error) {
    reportException(arrived.requestId, count, error);
    step = stepAfterException(arrived, feed.state, environment.failMode, count);
  }
  const outcome = step.kind === 'answer' ? await answered(step, isolate) : await forwarded(step, isolate);
  bodies.release(arrived.requestId);
  const from = { instanceId, version: environment.version, isolate: log.isolateId, seq: log.nextSeq() };
  log.add(recordOf(outcome, from), waitUntil);
  limits.report(arrived.nowMs, waitUntil);
  pace.report(arrived.nowMs, waitUntil);
  return outcome.response;
}

/** From what a request shows to what is done with it. */
async function decidedStep(
  arrived: RequestFacts,
  isolate: Isolate,
  waitUntil: WaitUntil,
  endpoint: Endpoint | null,
): Promise<Step> {
  if (arrived.target === UNROUTABLE) {
    const verdict = errorVerdict('block', 'The request names no path of a host.');
    return answerWith(unjudged(arrived, { verdict }), BAD_REQUEST);
  }

  // Only the first requests of an isolate wait for config and rules.
  await isolate.feed.ready(arrived.nowMs, waitUntil);
  const { config, ruleset } = isolate.feed.state;
  const path = config?.pathPolicy(arrived.target, arrived.headers.method) ?? null;
  const known = { config, path, rulesetVersion: ruleset?.version ?? 0 };
  if (config?.hosts && !config.hosts.has(hostName(arrived.target.host))) {
    const verdict = errorVerdict('block', 'The instance does not serve this host.', 'policy', 'policy:hosts');
    return answerWith(unjudged(arrived, { ...known, verdict }), FOREIGN_HOST);
  }
  if (config === null || path === null || ruleset === null) {
    const context = unjudged(arrived, known);
    return endpoint
      ? endpoint(context, isolate)
      : stepWithoutRuleset(context, isolate.environment.failMode, isolate.count);
  }

  // A submission that was held for a challenge takes the place of the request that brings it back. Who is blocked by a
  // rule fills no memory with one; what others send is bounded by the room for bodies.
  let returned: Pick<RequestContext, 'facts' | 'held'> = { facts: arrived, held: null };
  let refusal: Answer | null = null;
  if (endpoint === null && isTextForm(arrived) && !isBlockedByRules(arrived, config.policy, ruleset)) {
    const opened = await returnedSubmission(arrived, config, isolate.bodies);
    if (opened.ok) returned = opened.value;
    else refusal = NOT_RETURNED[opened.error.kind];
  }

  const { facts, held } = returned;
  const visitor = await knownVisitor(facts, config, isolate, waitUntil);
  const hasRoom = (kind: PendingKind): boolean =>
    isolate.pending.hasRoom(kind, facts.signals.ip, config.policy.pendingBudget, facts.nowMs);
  const paceOf: Judging['paceOf'] = (session, clearance) =>
    isolate.pace.read(session, clearance, config.policy.pace, pacedVisitor(facts, config));
  const judged = judge({ facts, held, config, path, ruleset, visitor, hasRoom, paceOf });
  const context = takeEffects(judged, isolate, waitUntil);
  if (endpoint) return endpoint(context, isolate);
  if (refusal !== null && !isRefused(context.verdict)) return answerWith(notTakenBack(context), refusal);

  const step = await stepOf(context, isolate);
  const mayPass = step.kind === 'forward' && context.limits !== null;
  return mayPass ? limitStep(step, context, context.limits, isolate, waitUntil) : step;
}

/** Does what a judgement asks for, whatever the response is. Returns the context with the cookies that came of it. */
export function takeEffects(
  context: JudgedContext,
  { pending, pace, renewals }: Pick<Isolate, 'pending' | 'pace' | 'renewals'>,
  waitUntil: WaitUntil,
): JudgedContext {
  const { facts, jti, effects, verdict, config } = context;
  const { signals, target, nowMs } = facts;
  if (effects.pending !== null) pending.take(effects.pending, signals.ip, config.policy.pendingBudget, nowMs);
  if (effects.pace && verdict.decision === 'allow') {
    pace.take(effects.pace.payers, effects.pace.units, nowMs, effects.pace.session);
  }
  if (effects.renewal === null || jti === null) return context;
  const visitor = () => sessionVisitorOf(facts, verdict.riskScore);
  const successor = renewals.successorOf({ jti, jwt: effects.renewal }, visitor, nowMs, waitUntil);
  return successor === null ? context : { ...context, cookies: [sessionCookie(successor, target, nowMs)] };
}

/** A submitted page, whatever else its path serves, whose seal is not good. */
function notTakenBack({ verdict, ...context }: JudgedContext): RequestContext {
  const why = 'What was held for a challenge could not be taken back.';
  const { decision, source, decidedBy, inputs, explain } = errorVerdict('block', why);
  return { ...context, path: null, verdict: { ...verdict, decision, source, decidedBy, inputs, explain } };
}

function isRefused({ decision, enforcementPolicy }: Verdict): boolean {
  return decision === 'block' && enforcementPolicy === 'enforce';
}

async function stepOf(context: JudgedContext, isolate: Isolate): Promise<Step> {
  const { verdict, facts } = context;
  if (verdict.enforcementPolicy !== 'enforce') return forwardOn(context);
  switch (verdict.decision) {
    case 'allow':
      if (verdict.redirect && !isAt(facts.target, verdict.redirect.location))
        return answerWith(context, { kind: 'redirect', ...verdict.redirect, waitSeconds: 0 });
      if (isolate.robots && isForRobotsFile(context))
        return answerWith(context, { kind: 'robots', text: await isolate.robots.textFor(context) });
      return forwardOn(context);
    case 'block':
      return answerWith(context, verdict.decidedBy === `limit:${SESSION_PACE}` ? tooFast(context) : { kind: 'block' });
    case 'challenge':
      return verdict.source === 'no-session'
        ? answerWith(context, { kind: 'no-session' })
        : challengeStep(context, isolate);
  }
}

/** A session that used more than it can work for. The next window begins with a new allowance. */
function tooFast({ facts: { nowMs }, config }: RequestContext): Answer {
  const untilMs = (paceWindow(nowMs) + 1) * PACE_WINDOW_MS - nowMs;
  return {
    kind: 'limited',
    name: SESSION_PACE,
    count: config?.policy.pace.html ?? 0,
    windowSeconds: PACE_WINDOW_MS / 1000,
    countsRequests: false,
    retryAfterSeconds: Math.max(1, Math.ceil(untilMs / 1000)),
  };
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
} satisfies Record<OriginFault['kind'], object>;

const RESPONSE_LOST = message('origin-unreachable', 'API.ORIGIN_UNREACHABLE', 'The site’s response was lost.');

async function forwarded(step: Forward, isolate: Isolate): Promise<StepOutcome> {
  const { origins, service, count, limits, obstacles } = isolate;
  const called = await callOrigin(step, origins, count, (held) => spendHeld(service, count, held));
  if (step.counted) limits.responded(step.counted, called.ok ? called.value.response : null);
  if (!called.ok)
    return answered(answerWith(step.context, originFaults[called.error.kind], step.tokenVerified), isolate);
  const { response, originMs } = called.value;
  try {
    const instead = await steppedBack(step, response, isolate);
    if (instead) {
      void response.body?.cancel();
      return { ...(await answered(instead, isolate)), originMs };
    }
    return { step, response: await handedOn(step, called.value, count, obstacles), originMs };
  } catch (error) {
    reportException(step.context.facts.requestId, count, error);
    // The origin has acted: it is not called again, and the visitor must know that it may have worked.
    void response.body?.cancel();
    return { ...(await answered(answerWith(step.context, RESPONSE_LOST, step.tokenVerified), isolate)), originMs };
  }
}

/** Where a file was asked for and the origin sent a page: what the visitor gets past their budget or their pace. */
async function steppedBack({ context }: Forward, response: Response, isolate: Isolate): Promise<Answered | null> {
  if (!isJudged(context)) return null;
  const { facts, verdict, effects } = context;
  const { policy } = context.config;
  const isPastBudget = effects.pending === 'file' && isolate.pending.withholds(response, facts, policy.pendingBudget);
  const paceState = isPastBudget ? 'within' : paceAfter(context, response, isolate.pace);
  if (!isPastBudget && paceState === 'within') return null;
  const past = paceState === 'within' ? pastBudget(verdict, policy) : pastPace(verdict, policy, paceState);
  const step = await stepOf({ ...context, verdict: past }, isolate);
  return step.kind === 'answer' ? step : null;
}

function pacedVisitor({ signals, nowMs }: RequestFacts, { keys }: CompiledConfig): PacedVisitor {
  return { ip: signals.ip, key: keys.current.address, nowMs };
}

/** Counts what the response turned out to be. Anything but `within`: nobody is left to pay for it. */
function paceAfter({ facts, effects, config }: JudgedContext, response: Response, pace: Pace): PaceState {
  if (effects.pace === null) return 'within';
  const { units: taken, session, clearance } = effects.pace;
  const type = answeredType(response);
  if (taken > 0) {
    // A call was answered with a page. The origin has acted, so the rest of a page's price is taken and nothing is refused.
    const rest = type === 'html' ? unitsOf('html', config.policy.pace) - taken : 0;
    if (rest > 0) pace.take(effects.pace.payers, rest, facts.nowMs, session);
    return 'within';
  }
  if (isFileResponse(response, facts.target)) return 'within';
  const found = pace.read(session, clearance, config.policy.pace, pacedVisitor(facts, config));
  const { reading, payers, callWeight = reading?.callWeight } = found;
  pace.take(payers ?? [], unitsOf(type, config.policy.pace, callWeight), facts.nowMs, session);
  return payers === null ? (reading?.state ?? 'spent') : 'within';
}

/** Several ranges of a page have a type of their own. */
const PAGE_TYPE = /html|^multipart\/byteranges/i;

/** A page or a call. Redirects, errors and unchanged data are calls: they tell something too. */
function answeredType(response: Response): PathType {
  return response.ok && PAGE_TYPE.test(response.headers.get('content-type') ?? '') ? 'html' : 'json';
}

async function answered(step: Answered, isolate: Isolate): Promise<StepOutcome> {
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
  reportException(requestId, isolate.count, error);
  return new Response(`Forbidden\nReference: ${requestId}\n`, {
    status: 403,
    headers: { 'cache-control': 'no-store', [header.requestId]: requestId, [header.decision]: 'block' },
  });
}
