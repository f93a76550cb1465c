/**
 * The last thing before the origin: the limits that policies name for the request. A request that is refused leaves
 * without its body being read. Only the log-in form of a limit by user is read, after the other limits have let the
 * request through, and goes on as it came.
 */
import { namedBotId } from '../../bots/bot-proof.ts';
import type { WaitUntil } from '../../bytes/polled.ts';
import { challengeStep } from './challenge-step.ts';
import type { ChallengePorts } from './check-token.ts';
import { NOT_READ, message, type Answer } from '../answer/answer.ts';
import { liftsLimits, type Verdict, verdictOf } from '../../decide/verdict.ts';
import type { JudgedContext, LimitsAsked } from '../decide/context.ts';
import { limitKeys } from '../../limits/limit-keys.ts';
import { firedOf, strictest, type Above, type Counted } from '../limits/limits.ts';
import { keySourceOf } from '../request/facts.ts';
import type { CompiledLimit, CompiledLimits } from '../config/compiled-limits.ts';
import { formUsers } from '../submission/form-users.ts';
import { answerWith, type Forward, type Step } from '../step/step.ts';

const UNCOUNTED = message('unavailable', 'API.UNAVAILABLE', 'The request could not be counted. Try again.');

/** What a browser asks for many times at once. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The step, once the limits let it through; else the answer of the strictest one, or its challenge. */
export async function limitStep(
  chosen: Forward,
  judged: JudgedContext,
  asked: LimitsAsked,
  ports: ChallengePorts,
  waitUntil: WaitUntil,
): Promise<Step> {
  if (judged.config.limits === null || liftsLimits(asked.inputs)) return chosen;
  let step: Step = chosen;
  // A form that solves the challenge of a limit in place is asked for a second time, and counted then.
  while (step.kind === 'forward') {
    const reading: LimitReading = await askLimits(step, judged, asked, judged.config.limits, ports, waitUntil);
    if (reading.kind !== 'challenge') return reading;
    step = await challengeStep(reading.context, ports, reading.body);
  }
  return step;
}

/** A step, or the challenge of a limit. `body`: what was read of the request. */
type LimitReading = Step | { kind: 'challenge'; context: JudgedContext; body: Forward['body'] };

async function askLimits(
  step: Forward,
  judged: JudgedContext,
  asked: LimitsAsked,
  compiled: CompiledLimits,
  { limits, bodies }: ChallengePorts,
  waitUntil: WaitUntil,
): Promise<LimitReading> {
  const { config, path, clearance } = judged;
  let { context, body } = step;
  const source = keySourceOf(context.facts, context.jti, namedBotId(context.verdict.bot));
  const isReading = READING.has(context.facts.headers.method);
  const keyed = (limit: CompiledLimit, users: readonly string[]): Counted => ({
    limit,
    keys: limitKeys(limit, { ...source, users }, compiled.sign),
    isPending: limit.on === 'loginFailed' && !isReading,
  });
  const named = asked.names.map((name) => compiled.byName.get(name)).filter((limit) => limit !== undefined);
  const byUser = named.filter((limit) => userField(limit) !== '');
  const counted = named.filter((limit) => userField(limit) === '').map((limit) => keyed(limit, []));
  const verdict = (above: readonly Above[]): Verdict => limitedVerdict(context.verdict, asked, above);
  const stops = (above: readonly Above[]): boolean => isStopped(verdict(above), above);

  let above = byUser.length === 0 ? [] : limits.above(counted);
  if (!stops(above)) {
    const users = await formUsers(context.facts, body, [...new Set(byUser.map(userField))], bodies);
    if (!users.ok) return answerWith(context, NOT_READ[users.error.kind], step.tokenVerified);
    const { facts, byField } = users.value;
    body = users.value.body;
    context = { ...context, facts };
    counted.push(...byUser.map((limit) => keyed(limit, byField.get(userField(limit)) ?? [])));
    above = await limits.ask(counted, stops, waitUntil);
  }
  const decided = { ...context, verdict: verdict(above) };
  if (!isStopped(decided.verdict, above)) {
    const within = counted.filter(({ limit }) => !above.some((one) => one.limit === limit));
    return { ...step, context: decided, counted: within };
  }
  if (decided.verdict.decision === 'block') return answerWith(decided, refusal(strictest(above)), step.tokenVerified);
  const challenged: JudgedContext = { ...decided, isJudged: true, config, path, clearance, limits: null };
  return { kind: 'challenge', context: challenged, body };
}

/** The table's word with the limits; a solved form, and one that nobody could check, is not challenged again. */
function limitedVerdict(known: Verdict, { inputs }: LimitsAsked, above: readonly Above[]): Verdict {
  if (above.length === 0) return known;
  const one = strictest(above);
  const limit = one && { verdict: one.verdict, name: one.limit.name };
  const made = verdictOf({ ...inputs, limit, limitsFired: firedOf(above) });
  const isLifted = known.source === 'verified' || (known.source === 'error' && known.decision === 'allow');
  return isLifted && made.decision !== 'block' ? { ...known, firedRules: made.firedRules } : made;
}

function isStopped({ decision, enforcementPolicy }: Verdict, above: readonly Above[]): boolean {
  return strictest(above) !== null && decision !== 'allow' && enforcementPolicy === 'enforce';
}

function refusal(above: Above | null): Answer {
  if (above?.kind !== 'counted') return UNCOUNTED;
  const { name, count, windowSeconds, then, on } = above.limit;
  if (then === 'block') return { kind: 'block' };
  const retryAfterSeconds = Math.max(1, Math.ceil(above.waitMs / 1000));
  return { kind: 'limited', name, count, windowSeconds, countsRequests: on === 'request', retryAfterSeconds };
}

/** Empty where the limit does not count by user. */
function userField({ key, loginFailed }: CompiledLimit): string {
  return key.includes('user') ? (loginFailed?.usernameField ?? '') : '';
}
