/**
 * `POST /captcha/v1/solution`: judges a solution by the service's own clock. The result is a token with the jti of the
 * challenge, or the next round: a picture after its proof of work, a further picture, a new try. A solution that is sent
 * twice gives two tokens with one jti, and only one of them can be spent.
 */
import type * as z from 'zod/mini';
import { powSolved, solvedSuspiciouslyFast } from '../../../captcha/pow/judge-pow.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import {
  type ChallengeParams,
  openChallenge,
  type OpenedChallenge,
  type SealedChallenge,
} from '../../../captcha/seal/sealed-challenge.ts';
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import { levelOfLane, sealToken } from '../../../captcha/seal/sealed-token.ts';
import { solutionRequest, type SolutionResponse } from '../../../contract/captcha/challenge-api.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { readBodyAs } from '../../http/body/read-body.ts';
import type { RateLimitError, CaptchaRouteError } from '../../http/service-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { recordSubmitted } from '../captcha-events.ts';
import type { Payer } from '../../../captcha/plan/solved-price.ts';
import { type ChallengeSite, challengeSite } from '../challenge/challenge-site.ts';
import { type CaptchaEngine, captchaEngine } from '../captcha-engine.ts';
import { noteWidgetSolved } from '../first-use.ts';
import { powPrice, priceOf } from '../challenge/challenge-price.ts';
import { besideDifficulty, restDifficulty } from '../../../captcha/plan/level-prices.ts';
import { issuePow, issueVisual } from '../challenge/issue-challenge.ts';
import { isOnlyAnswer, judgeRound, type RoundOutcome, solvedFacts, type TaskAnswer } from './judge-round.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import type { SolvingSigns } from '../../../risk/captcha-score.ts';
import { captchaVisitor, type Visitor } from '../visitor.ts';
import { type NetworkTag, networkTags, WAIT_BUDGET_SPENT, WAIT_WINDOW_SECONDS, waitAllowed } from '../wait-budget.ts';

/** A sealed challenge, a solution with the path of a pointer (1,000 points of three numbers), and the visitor of an edge. */
export const SOLUTION_LIMITS = { maxBytes: 128 * 1024, maxFields: 4000 };
/** For all rounds of one jti. The spend ledger keeps its rows for longer than this and the life of a token together. */
const COURSE_MAX_MS = 1_800_000;
const rateLimit = new RateLimit();

type SolutionRequest = z.infer<typeof solutionRequest>;

export async function submitSolution(call: ServiceCall): Promise<Result<SolutionResponse, CaptchaRouteError>> {
  const body = await readBodyAs(solutionRequest, call.request, SOLUTION_LIMITS);
  return body.ok ? solutionResult(call, body.value) : body;
}

export async function solutionResult(
  call: ServiceCall,
  body: SolutionRequest,
): Promise<Result<SolutionResponse, CaptchaRouteError>> {
  const { nowMs } = call;
  const visitor = await captchaVisitor(call, body.visitor);
  if (!visitor.ok) return visitor;
  const { ip } = visitor.value;
  if (ip === null) return failed({ kind: 'visitor-address-unknown' });
  const engine = captchaEngine(call);
  const opened = await openChallenge(engine.keyring, body.challenge, nowMs);
  if (opened === null) return failed({ kind: 'challenge-invalid' });
  const { challenge } = opened;
  const networks = await networkTags(engine.keyring, keyDay(challenge.bornAt), ip);
  const registered = await challengeSite(engine, challenge.siteKey, visitor.value, nowMs);
  if (!registered.ok) return registered;
  const site = registered.value;
  const judged = await judgeSolution(call, engine, site, { opened, body, ip, networks });
  if (!judged.ok) return judged;
  if (judged.value === 'too-cheap') return ok(await restOfWork(engine, site, challenge, visitor.value, nowMs));

  const { outcome, signs } = judged.value;
  const shown = solvedFacts(challenge.facts, signs);
  const facts = outcome.step === 'passed' ? shown : null;
  const reason = outcome.step === 'passed' || outcome.step === 'next' ? null : REFUSED[outcome.step];
  // Neither a further round nor a second answer to a round is an answer to the challenge.
  if (site.accountId !== null && outcome.step !== 'next' && outcome.step !== 'answered-before') {
    recordSubmitted(call, site.accountId, challenge, { correct: facts !== null, reason, facts });
  }
  if (outcome.step === 'next') return ok(await nextRound(engine, site, { ...challenge, facts: shown }, outcome, nowMs));
  if (facts !== null) noteWidgetSolved(call, site, challenge, visitor.value.edgeAccountId !== null);
  if (facts !== null) return ok(await issueToken(engine, site, challenge, facts, nowMs));
  return ok({ verified: false, ...(reason === null ? {} : { reason }) });
}

/** The round that is shown next, from 0. */
type NextRound = Extract<RoundOutcome, { step: 'next' }> & { round: number };

interface JudgedSolution {
  outcome: Exclude<RoundOutcome, { step: 'next' }> | NextRound | { step: 'late' };
  signs: SolvingSigns;
}

interface Answered {
  opened: OpenedChallenge;
  body: SolutionRequest;
  ip: string;
  networks: readonly NetworkTag[];
}

async function judgeSolution(
  call: ServiceCall,
  engine: CaptchaEngine,
  { settings, accountId }: ChallengeSite,
  { opened, body, ip, networks }: Answered,
): Promise<Result<JudgedSolution | 'too-cheap', RateLimitError>> {
  const { nowMs } = call;
  const { challenge } = opened;
  const isTask = challenge.lane === 'visual' || challenge.lane === 'audio';
  const signs: SolvingSigns = {
    moved: networks[0]?.tag !== challenge.facts.prefix,
    nativeSolver: !isTask && solvedSuspiciouslyFast(opened, nowMs),
    tooSoon: false,
    mechanical: false,
    honeypot: settings.honeypot?.enabled === true && (body.honeypot ?? '').trim() !== '',
  };
  const judgedAs = (outcome: JudgedSolution['outcome']): Result<JudgedSolution, never> => ok({ outcome, signs });
  const isLate = nowMs >= challenge.expiresAt || nowMs >= challenge.bornAt + COURSE_MAX_MS;
  const isDone = !isLate && !isTask && (await powSolved(opened, body.solution, nowMs));
  const { afterwards, steps = Infinity } = challenge.params;
  const isPriced = isDone && challenge.lane !== 'wait' && accountId !== null;
  const work = { id: challenge.jti, halfSteps: steps };
  const sold = isPriced ? priceOf(challenge.action).solve(payerOf(challenge, ip), work, nowMs) : null;
  // New work that is right is never refused for what others of the network send. All else counts.
  const limited = sold?.isNew ? null : rateLimit.takeReserved(challenge.siteKey, ip, null, nowMs);
  if (limited !== null) return failed(limited);
  if (isLate) return judgedAs({ step: 'late' });
  if (sold?.isTooCheap) return ok('too-cheap');
  const answer = { challenge, sealed: body.challenge, solution: body.solution };
  if (isTask) return judgeTask(call, engine, settings, { opened, answer: { ...answer, networks }, signs });
  if (!isDone) return judgedAs({ step: 'failed' });
  if (afterwards !== undefined) {
    if (!(await isOnlyAnswer(call, 'work', answer))) return judgedAs({ step: 'answered-before' });
    const params = withoutWork(challenge.params, false);
    return judgedAs({ step: 'next', lane: afterwards, params, failed: false, round: 0 });
  }
  if (challenge.lane === 'wait' && !(await waitAllowed(call.store, challenge.siteKey, networks))) {
    return failed({ kind: 'rate-limited', what: WAIT_BUDGET_SPENT, retryAfterSeconds: WAIT_WINDOW_SECONDS });
  }
  return judgedAs({ step: 'passed' });
}

/** A session pays for itself, where an edge has checked it. */
function payerOf({ siteKey, edge, facts }: SealedChallenge, ip: string): Payer {
  return { scope: siteKey, ip, session: edge === null ? null : facts.session };
}

/** A picture or a recording, and the work beside it. */
async function judgeTask(
  call: ServiceCall,
  engine: CaptchaEngine,
  settings: SiteSettings,
  { opened, answer, signs }: { opened: OpenedChallenge; answer: TaskAnswer; signs: SolvingSigns },
): Promise<Result<JudgedSolution, RateLimitError>> {
  const { challenge, solution } = answer;
  const { lane, round, params } = challenge;
  const isPaid = await isWorkBesideDone(opened, solution, call.nowMs);
  if (params.beside !== undefined && isPaid && isWorkAlone(solution)) {
    if (!(await isOnlyAnswer(call, 'work beside', answer))) return ok({ outcome: { step: 'answered-before' }, signs });
    return ok({ outcome: { step: 'next', lane, params: withoutWork(params, isPaid), failed: false, round }, signs });
  }
  const judged = await judgeRound(call, engine, settings, { ...answer, isPaid });
  if (!judged.ok) return judged;
  const { outcome, mechanical, tooSoon } = judged.value;
  const next =
    outcome.step === 'next' ? { ...outcome, params: withoutWork(outcome.params, isPaid), round: round + 1 } : outcome;
  return ok({ outcome: next, signs: { ...signs, mechanical, tooSoon } });
}

/** Whether the solution of a picture or recording has that of the work beside it. `true` as well where none is left to do. */
async function isWorkBesideDone(
  opened: OpenedChallenge,
  solution: SolutionRequest['solution'],
  nowMs: number,
): Promise<boolean> {
  const { beside } = opened.challenge.params;
  if (beside === undefined) return true;
  return powSolved({ ...opened, challenge: { ...opened.challenge, lane: beside.lane } }, solution, nowMs);
}

/** A client that does one thing after the other hands in the work first, and gets the same picture without it. */
function isWorkAlone(solution: SolutionRequest['solution']): boolean {
  const [name, ...others] = Object.keys(solution);
  return others.length === 0 && (name === 'y' || name === 'counters');
}

/** What the seal of a picture keeps: nothing of the work before it, and whether that beside it is still to be done. */
function withoutWork(params: ChallengeParams, isPaid: boolean): ChallengeParams {
  const { t: _t, salt: _salt, bits: _bits, steps: _steps, afterwards: _afterwards, beside, ...course } = params;
  return isPaid || beside === undefined ? course : { ...course, beside };
}

/**
 * The price has risen while the visitor worked: the challenge goes on with what it costs more. It keeps its jti, so that
 * work which is sent again and again still earns one token.
 */
async function restOfWork(
  engine: CaptchaEngine,
  { settings }: ChallengeSite,
  challenge: SealedChallenge,
  visitor: Visitor,
  nowMs: number,
): Promise<SolutionResponse> {
  const { action, powDifficulty, params } = challenge;
  const { t: _t, salt: _salt, bits: _bits, steps = 0, beside, ...course } = params;
  const halfSteps = priceOf(action).halfSteps(payerOf(challenge, visitor.ip ?? ''), nowMs);
  const price = powPrice(powDifficulty, halfSteps, visitor, nowMs);
  const rest = restDifficulty(price, powPrice(powDifficulty, steps, visitor, nowMs));
  const base = { ...challenge, issuedAt: nowMs, expiresAt: nowMs + settings.solutionTimeout };
  const next = await issuePow(engine, base, rest, {
    ...course,
    steps: halfSteps,
    ...(beside && { beside: { ...beside, powDifficulty: besideDifficulty(price) } }),
  });
  return { verified: false, reason: 'CAPTCHA.PRICE_RISEN', next };
}

const REFUSED = {
  late: 'API.TIMESTAMP_TOO_OLD',
  failed: 'CAPTCHA.INVALID_SOLUTION',
  'answered-before': 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE',
} as const;

async function nextRound(
  engine: CaptchaEngine,
  site: ChallengeSite,
  challenge: SealedChallenge,
  outcome: NextRound,
  nowMs: number,
): Promise<SolutionResponse> {
  const base = {
    ...challenge,
    lane: outcome.lane,
    round: outcome.round,
    issuedAt: nowMs,
    expiresAt: nowMs + site.settings.solutionTimeout,
  };
  const next = await issueVisual(engine, base, outcome.params, site.settings.puzzle);
  return { verified: false, ...(outcome.failed ? { reason: REFUSED.failed } : {}), next };
}

async function issueToken(
  engine: CaptchaEngine,
  site: ChallengeSite,
  challenge: SealedChallenge,
  facts: SealedFacts,
  nowMs: number,
): Promise<SolutionResponse> {
  const { issuedAt: _, round: __, params: ___, ...course } = challenge;
  const expiresAt = nowMs + site.settings.verifiedTimeout;
  const token = await sealToken(engine.keyring, {
    ...course,
    level: levelOfLane(course.lane),
    issuedAt: course.bornAt,
    solvedAt: nowMs,
    expiresAt,
    facts,
  });
  return { verified: true, token, expiresAt, now: nowMs };
}
