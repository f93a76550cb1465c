/**
 * `POST /captcha/v1/challenge` (design 5): who asks, for which site, from which page; then what they
 * have to do. The answer holds a task and a seal; nothing is stored. The page without scripts asks
 * the same way.
 */
import { BurstPrice } from '../../../captcha/plan/burst-price.ts';
import { chooseChallenge } from '../../../captcha/plan/choose-challenge.ts';
import { difficultyAt } from '../../../captcha/plan/challenge-difficulty.ts';
import { honeypotOf } from '../../../captcha/plan/honeypot.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import { newJti } from '../../../captcha/seal/sealed-challenge.ts';
import { addressPrefix } from '../../../address/visitor-binding.ts';
import { challengeRequest } from '../../../contract/captcha/challenge-api.ts';
import type { ChallengeAnswer, ChallengeRequest } from '../../../contract/captcha/challenge-api.ts';
import { hostnameAllowed } from '../../../contract/management/site-domain.ts';
import { PAD_BYTES_MAX } from '../../../contract/management/site-settings.ts';
import { parseWithSchema } from '../../http/body/parse-with-schema.ts';
import { readBody } from '../../http/body/read-body.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { accessDemand } from '../access-rules/matching-access-rule.ts';
import { tellBlocked, tellIssued } from '../captcha-events.ts';
import type { IssueCircumstances } from '../captcha-events.ts';
import { challengeSite } from './challenge-site.ts';
import { captchaEngine } from '../captcha-engine.ts';
import { issuePow, issueVisual, visualParams, WAIT_MS } from './issue-challenge.ts';
import type { ChallengeBase } from './issue-challenge.ts';
import { PAD_BYTES_THROUGH_EDGE_MAX, paddedAnswer } from './padded-response.ts';
import { pageHost } from './page-host.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import { visitorFacts } from './visitor-facts.ts';
import { visitorOf, withKnownFacts } from '../visitor.ts';

/** A request without a user agent of 16 KiB is far below this. */
export const CHALLENGE_BODY_MAX_BYTES = 32 * 1024;
const rateLimit = new RateLimit();
const burstPrice = new BurstPrice();
const POW_DIFFICULTY_MAX = 10;
/** Of all sites together, and before one is looked up: made-up site keys must not become a database load. */
const NETWORK_CALLS_PER_MINUTE = 600;
const networkRateLimit = new RateLimit(NETWORK_CALLS_PER_MINUTE);

export async function createChallenge(call: ServiceCall): Promise<ChallengeAnswer | Response> {
  const body = parseWithSchema(challengeRequest, await readBody(call.request, CHALLENGE_BODY_MAX_BYTES));
  const { answer, padBytes } = await newChallenge(call, body, call.request.headers.get('origin'));
  return padBytes === 0 ? answer : paddedAnswer(answer, padBytes);
}

/** `origin`: of the page, by the browser's word. */
export async function newChallenge(
  call: ServiceCall,
  body: ChallengeRequest,
  origin: string | null,
): Promise<{ answer: ChallengeAnswer; padBytes: number; hostname: string }> {
  const { store, nowMs } = call;
  const told = await visitorOf(call, body.visitor);
  if (told.ip === null) {
    // Without an address nothing can be limited or filtered: refuse rather than let everyone in (design 8).
    throw new ApiError('API.FORBIDDEN', 'The address of the visitor is unknown');
  }
  networkRateLimit.take(addressPrefix(told.ip), nowMs);
  const engine = captchaEngine(call);
  const visitor = withKnownFacts(told, engine.addressLookup?.(told.ip) ?? null);
  const site = await challengeSite(engine, body.siteKey, visitor, nowMs);
  const page = pageHost(visitor, origin, body.currentUrl, call.serviceUrl);
  const allowed = page !== null && (site.accountId === null || hostnameAllowed(page.hostname, site.settings.domains));
  if (!allowed) {
    throw new ApiError('API.UNAUTHORIZED_ORIGIN_URL', 'This page is not among the domains of the site');
  }
  const matched =
    site.accountId === null
      ? null
      : await accessDemand(store, site.accountId, { ...visitor, userId: body.sessionId ?? null }, nowMs);
  const facts = await visitorFacts(engine.keyring, visitor, {
    day: keyDay(nowMs),
    hostUnverified: page.unverified,
    session: body.sessionId ?? null,
    ruleScore: matched?.demand.frictionlessScore ?? 0,
  });
  const network = `${site.siteKey} ${facts.prefix}`;
  rateLimit.take(network, nowMs);
  const burstSteps = site.accountId === null ? 0 : burstPrice.take(network, nowMs);
  const jti = newJti();
  const identity = { jti, account_id: site.accountId ?? '', site_key: site.siteKey, timestamp: nowMs };
  const circumstances: IssueCircumstances = {
    visitor,
    facts,
    settings: site.settings,
    hostname: page.hostname,
    action: body.action ?? '',
    lane: null,
    accessRule: matched === null ? null : { userScopeHash: matched.userScopeHash, type: matched.demand.type },
  };
  if (matched?.demand.type === 'block') {
    tellBlocked(call, identity, circumstances, 'API.ACCESS_POLICY_BLOCK');
    throw new ApiError('API.ACCESS_POLICY_BLOCK', `Forbidden: ${call.requestId}`);
  }
  const plan = chooseChallenge({
    settings: site.settings,
    score: facts.score,
    webView: facts.webView,
    traits: { categories: facts.categories, network: facts.network, abuseScore: visitor.abuseScore },
    demand: matched?.demand ?? null,
    difficulty: difficultyAt(visitor.instance?.challengeDifficulty ?? [], visitor.sessionRisk),
    capabilities: { bigint: true, worker: true, script: true, audio: false, ...body.capabilities },
  });
  if (plan === null) {
    throw new ApiError('API.INCORRECT_CAPTCHA_TYPE', 'This site asks for a task that needs JavaScript');
  }
  if (site.accountId !== null) {
    tellIssued(call, { ...identity, captcha_type: plan.kind }, { ...circumstances, lane: plan.lane });
  }
  const base: ChallengeBase = {
    jti,
    bornAt: nowMs,
    siteKey: site.siteKey,
    hostname: page.hostname,
    action: body.action ?? '',
    cdata: body.cdata ?? '',
    kind: plan.kind,
    lane: plan.lane,
    issuedAt: nowMs,
    // Who must wait gets the site's time after the wait, or a short one could never be met.
    expiresAt: nowMs + site.settings.solutionTimeout + (plan.lane === 'wait' ? WAIT_MS : 0),
    round: 0,
    facts: { ...facts, refusal: plan.refusal },
  };
  const task =
    plan.kind === 'pow'
      ? await issuePow(engine, base, priceOf(plan.powDifficulty, burstSteps, matched?.demand.powDifficulty))
      : await issueVisual(engine, base, visualParams(plan), site.settings.puzzle);
  const honeypot = honeypotOf(site.settings);
  const answer = honeypot === null ? task : { ...task, honeypot };
  const most = visitor.edgeAccountId === null ? PAD_BYTES_MAX : PAD_BYTES_THROUGH_EDGE_MAX;
  return { answer, padBytes: Math.min(plan.padBytes, most), hostname: page.hostname };
}

/** A burst makes it dearer by half steps; a difficulty that a rule names for this visitor is meant as it stands. */
function priceOf(powDifficulty: number, burstSteps: number, byRule: number | undefined): number {
  return byRule === undefined ? Math.min(POW_DIFFICULTY_MAX, powDifficulty + burstSteps / 2) : powDifficulty;
}
