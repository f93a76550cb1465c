/**
 * `POST /captcha/v1/solution` (design 5): a solution against the service's own clock. What comes out is
 * a token over the same jti, or the next round. A solution handed in twice gives two tokens of one
 * jti, of which one can ever be spent.
 */
import type * as z from 'zod/mini';
import { powSolved, solvedSuspiciouslyFast } from '../../../captcha/pow/judge-pow.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import { openChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import type { OpenedChallenge, SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import { levelOfLane, sealToken } from '../../../captcha/seal/sealed-token.ts';
import { addressPrefix } from '../../../address/visitor-binding.ts';
import { visitorTag } from '../../../captcha/seal/visitor-tag.ts';
import { solutionRequest } from '../../../contract/captcha/challenge-api.ts';
import type { SolutionAnswer } from '../../../contract/captcha/challenge-api.ts';
import type { SiteSettings } from '../../../contract/management/site-settings.ts';
import { parseWithSchema } from '../../http/body/parse-with-schema.ts';
import { readBody } from '../../http/body/read-body.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { tellSubmitted } from '../captcha-events.ts';
import { challengeSite } from '../challenge/challenge-site.ts';
import { captchaEngine } from '../captcha-engine.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { issueVisual } from '../challenge/issue-challenge.ts';
import { judgeRound } from './judge-round.ts';
import type { RoundOutcome } from './judge-round.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import type { SolvingSigns } from '../../../risk/captcha-score.ts';
import { solvedFacts } from './solved-facts.ts';
import type { ChallengeSite } from '../challenge/challenge-site.ts';
import { visitorOf } from '../visitor.ts';
import { waitAllowed } from '../wait-budget.ts';

/** A sealed challenge, a solution with a pointer's path, and the edge's visitor. */
const SOLUTION_BODY_MAX_BYTES = 128 * 1024;
/** All rounds of one jti; the spend ledger keeps its rows for longer than this and a token's life. */
const COURSE_MAX_MS = 1_800_000;
const rateLimit = new RateLimit();

export async function submitSolution(call: ServiceCall): Promise<SolutionAnswer> {
  return solved(call, parseWithSchema(solutionRequest, await readBody(call.request, SOLUTION_BODY_MAX_BYTES)));
}

export async function solved(call: ServiceCall, body: z.infer<typeof solutionRequest>): Promise<SolutionAnswer> {
  const { nowMs } = call;
  const visitor = await visitorOf(call, body.visitor);
  if (visitor.ip === null) throw new ApiError('API.FORBIDDEN', 'The address of the visitor is unknown');
  const engine = captchaEngine(call);
  const opened = await openChallenge(engine.keyring, body.challenge, nowMs);
  if (opened === null) {
    throw new ApiError('CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge is not one of this service');
  }
  const { challenge } = opened;
  const prefix = await visitorTag(engine.keyring, keyDay(challenge.bornAt), 'prefix', addressPrefix(visitor.ip));
  rateLimit.take(`${challenge.siteKey} ${prefix}`, nowMs);
  const site = await challengeSite(engine, challenge.siteKey, visitor, nowMs);
  const outcome = await judgeSolution(call, engine, site.settings, { opened, body, prefix, nowMs });
  const facts = outcome.step === 'passed' ? solvedFacts(challenge.facts, outcome.signs) : null;
  const reason = outcome.step === 'passed' || outcome.step === 'next' ? null : REFUSED[outcome.step];
  // A further round is not yet an answer; an answer to a round that had one is none either.
  if (site.accountId !== null && outcome.step !== 'next' && outcome.step !== 'answered-before') {
    tellSubmitted(call, site.accountId, challenge, { correct: facts !== null, reason, facts });
  }
  if (outcome.step === 'next') return nextRound(engine, site, challenge, outcome, nowMs);
  if (facts !== null) return issueToken(engine, site, challenge, facts, nowMs);
  return { verified: false, ...(reason === null ? {} : { reason }) };
}

type SolutionOutcome =
  | { step: 'passed'; signs: SolvingSigns }
  | Exclude<RoundOutcome, { step: 'passed' }>
  | { step: 'late' };

async function judgeSolution(
  call: ServiceCall,
  engine: CaptchaEngine,
  settings: SiteSettings,
  given: { opened: OpenedChallenge; body: z.infer<typeof solutionRequest>; prefix: string; nowMs: number },
): Promise<SolutionOutcome> {
  const { opened, body, prefix, nowMs } = given;
  const { challenge } = opened;
  if (nowMs >= challenge.expiresAt || nowMs >= challenge.bornAt + COURSE_MAX_MS) return { step: 'late' };
  const signs: SolvingSigns = {
    moved: prefix !== challenge.facts.prefix,
    tooFast: solvedSuspiciouslyFast(opened, nowMs),
    mechanical: false,
    honeypot: settings.honeypot?.enabled === true && (body.honeypot ?? '').trim() !== '',
  };
  if (challenge.lane === 'visual' || challenge.lane === 'audio') {
    const round = { challenge, sealed: body.challenge, solution: body.solution, prefix };
    const { outcome, mechanical } = await judgeRound(call, engine, settings, round);
    return outcome.step === 'passed' ? { step: 'passed', signs: { ...signs, mechanical } } : outcome;
  }
  if (!(await powSolved(opened, body.solution, nowMs))) return { step: 'failed' };
  if (challenge.lane === 'wait' && !(await waitAllowed(call.store, challenge.siteKey, prefix))) throw waitBudgetSpent();
  return { step: 'passed', signs };
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
  outcome: { params: SealedChallenge['params']; failed: boolean },
  nowMs: number,
): Promise<SolutionAnswer> {
  const base = {
    ...challenge,
    round: challenge.round + 1,
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
): Promise<SolutionAnswer> {
  const { jti, bornAt, siteKey, hostname, action, cdata, kind, lane } = challenge;
  const expiresAt = nowMs + site.settings.verifiedTimeout;
  const token = await sealToken(engine.keyring, {
    jti,
    bornAt,
    siteKey,
    hostname,
    action,
    cdata,
    kind,
    lane,
    level: levelOfLane(lane),
    issuedAt: bornAt,
    solvedAt: nowMs,
    expiresAt,
    facts,
  });
  return { verified: true, token, expiresAt, now: nowMs };
}

function waitBudgetSpent(): ApiError {
  return new ApiError('API.RATE_LIMITED', 'Too many visitors of this network came in by waiting', undefined, {
    'retry-after': '600',
  });
}
