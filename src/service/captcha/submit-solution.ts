/**
 * `POST /captcha/v1/solution` (design 5): a solution against the service's own clock. What comes out is
 * a token over the same jti; a solution handed in twice gives two tokens of one jti, of which one
 * can ever be spent.
 */
import { powSolved, solvedSuspiciouslyFast } from '../../challenge/judge-pow.ts';
import { keyDay } from '../../challenge/keyring.ts';
import { openChallenge } from '../../challenge/sealed-challenge.ts';
import type { OpenedChallenge, SealedChallenge } from '../../challenge/sealed-challenge.ts';
import type { SealedFacts } from '../../challenge/sealed-facts.ts';
import { levelOfLane, sealToken } from '../../challenge/sealed-token.ts';
import { addressPrefix } from '../../challenge/visitor-binding.ts';
import { visitorTag } from '../../challenge/visitor-tag.ts';
import { solutionRequest } from '../../contract/challenge-api.ts';
import type { SolutionAnswer } from '../../contract/challenge-api.ts';
import { parseWithSchema } from '../body/parse-with-schema.ts';
import { readBody } from '../body/read-body.ts';
import { ApiError } from '../operation.ts';
import type { ServiceCall } from '../service-call.ts';
import { challengeSite } from './challenge-site.ts';
import { captchaEngine } from './engine.ts';
import type { CaptchaEngine } from './engine.ts';
import { RateLimit } from './rate-limit.ts';
import { waitAllowed } from './wait-budget.ts';
import { visitorOf } from './visitor.ts';
import type { Visitor } from './visitor.ts';

/** A sealed challenge, a solution and the edge's visitor; the seal's own bound is far below. */
const SOLUTION_BODY_MAX_BYTES = 64 * 1024;
/** Added to the score of a solution that came from another network, or too fast for a browser. */
const MOVED_SCORE = 0.2;
const FAST_SCORE = 0.3;
const rateLimit = new RateLimit();

export async function submitSolution(call: ServiceCall): Promise<SolutionAnswer> {
  const { env, request, now } = call;
  const body = parseWithSchema(solutionRequest, await readBody(request, SOLUTION_BODY_MAX_BYTES));
  const visitor = await visitorOf(call, body.visitor);
  const engine = captchaEngine(env);
  const opened = await openChallenge(engine.keyring, body.challenge, now);
  if (opened === null) {
    throw new ApiError('CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge is not one of this service');
  }
  const { challenge } = opened;
  const prefix = await prefixTag(engine, visitor, challenge);
  rateLimit.take(`${challenge.siteKey} ${prefix}`, now);
  if (now >= challenge.expiresAt) return { verified: false, reason: 'API.TIMESTAMP_TOO_OLD' };
  const site = await challengeSite(engine, challenge.siteKey, visitor, now);
  if (!(await powSolved(opened, body.solution, now))) return { verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' };
  if (challenge.lane === 'wait' && !(await waitAllowed(env, challenge.siteKey, prefix ?? 'none'))) {
    throw new ApiError('API.RATE_LIMITED', 'Too many visitors of this network came in by waiting', undefined, {
      'retry-after': '600',
    });
  }
  const expiresAt = now + site.settings.verifiedTimeout;
  const token = await sealToken(engine.keyring, {
    jti: challenge.jti,
    bornAt: challenge.bornAt,
    siteKey: challenge.siteKey,
    hostname: challenge.hostname,
    action: challenge.action,
    cdata: challenge.cdata,
    kind: challenge.kind,
    lane: challenge.lane,
    level: levelOfLane(challenge.lane),
    issuedAt: challenge.bornAt,
    solvedAt: now,
    expiresAt,
    facts: solvedFacts(opened, prefix, now),
  });
  return { verified: true, token, expiresAt };
}

async function prefixTag(engine: CaptchaEngine, visitor: Visitor, challenge: SealedChallenge): Promise<string | null> {
  if (visitor.ip === null) return null;
  return visitorTag(engine.keyring, keyDay(challenge.bornAt), 'prefix', addressPrefix(visitor.ip));
}

/** The facts of the challenge, with what solving it showed. */
function solvedFacts(opened: OpenedChallenge, prefix: string | null, nowMs: number): SealedFacts {
  const { facts } = opened.challenge;
  const found: [string, number][] = [];
  if (prefix !== facts.prefix) found.push(['address-changed', MOVED_SCORE]);
  if (solvedSuspiciouslyFast(opened, nowMs)) found.push(['native-solver', FAST_SCORE]);
  if (found.length === 0) return facts;
  const score = Math.min(1, facts.score + found.reduce((sum, [, weight]) => sum + weight, 0));
  return {
    ...facts,
    score: Math.round(score * 100) / 100,
    detectors: [...facts.detectors, ...found.map(([name]) => name)],
  };
}
