/**
 * The last thing before the origin: the limits that policies name for the request. A request that is refused leaves
 * without its body being read. Only the log-in form of a limit by user is read, and goes on as it came.
 */
import { INCOMPLETE, NO_ROOM, TOO_LARGE, message } from '../answer/answer.ts';
import type { Answer } from '../answer/answer.ts';
import { liftsLimits, verdictOf } from '../decide/verdict.ts';
import type { JudgedContext, LimitsAsked } from '../decide/context.ts';
import { keySourceOf } from '../limits/key-source.ts';
import type { CompiledLimit, CompiledLimits } from '../config/compiled-limits.ts';
import type { Above, Limits } from '../limits/limits.ts';
import type { BodyBudget } from '../submission/body-budget.ts';
import { formUsers } from '../submission/form-users.ts';
import { answerWith } from './step.ts';
import type { Answered, Forward } from './step.ts';

export interface LimitPorts {
  limits: Limits;
  bodies: BodyBudget;
}

/** A limit challenges: the gate goes on with this context, whose verdict says so. */
export interface ToChallenge {
  kind: 'challenge';
  context: JudgedContext;
}

const UNCOUNTED = message('unavailable', 'API.UNAVAILABLE', 'The request could not be counted. Try again.');
const UNREADABLE = { 'too-large': TOO_LARGE, unreadable: INCOMPLETE, 'no-room': NO_ROOM };

export async function limitStep(
  step: Forward,
  { config, path, clearance }: JudgedContext,
  { names, inputs }: LimitsAsked,
  { limits, bodies }: LimitPorts,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Forward | Answered | ToChallenge> {
  const compiled = config.limits;
  if (compiled === null || liftsLimits(inputs)) return step;
  const users = await formUsers(step.context.facts, step.body, userFields(compiled, names), bodies);
  if (!users.ok) return answerWith(step.context, UNREADABLE[users.error], step.verified);
  const { facts, byField } = users.value;
  const context = { ...step.context, facts };
  const { nowMs } = facts;
  const source = keySourceOf(facts, context.jti, context.verdict.bot?.id ?? null);
  const from = (limit: CompiledLimit) => ({ ...source, users: byField.get(userField(limit)) ?? [] });
  const { above, fired, counted } = await limits.ask(compiled, names, from, nowMs, waitUntil);
  if (fired.length === 0) return { ...step, context, counted };

  const limit = above && { verdict: above.limit.verdict, name: above.limit.name };
  const made = verdictOf({ ...inputs, limit, limitsFired: fired });
  const isSolved = context.verdict.source === 'verified' && made.decision !== 'block';
  const verdict = isSolved ? { ...context.verdict, firedRules: made.firedRules } : made;
  const decided = { ...context, verdict };
  if (verdict.decision === 'allow' || verdict.enforcementPolicy !== 'enforce' || above === null) {
    return { ...step, context: decided, counted };
  }
  if (verdict.decision === 'challenge')
    return { kind: 'challenge', context: { ...decided, isJudged: true, config, path, clearance, limits: null } };
  return answerWith(decided, refusal(above), step.verified);
}

function refusal({ limit, waitMs }: Above): Answer {
  const { name, count, windowSeconds, then, on } = limit;
  if (waitMs === 0) return UNCOUNTED;
  if (then === 'block') return { kind: 'block' };
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return { kind: 'limited', name, count, windowSeconds, countsRequests: on === 'request', retryAfterSeconds };
}

function userFields({ byName }: CompiledLimits, names: readonly string[]): string[] {
  const fields = names.map((name) => byName.get(name)).map((limit) => (limit ? userField(limit) : ''));
  return [...new Set(fields)].filter((field) => field !== '');
}

/** Empty where the limit does not count by user. */
function userField({ key, loginFailed }: CompiledLimit): string {
  return key.includes('user') ? (loginFailed?.usernameField ?? '') : '';
}
