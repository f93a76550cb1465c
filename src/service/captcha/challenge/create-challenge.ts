/**
 * `POST /captcha/v1/challenge`: who asks, for which site, from which page, and what they have to do. The response has a
 * task and a seal; nothing is stored. The page without scripts asks in the same way.
 */
import { honeypotOf } from '../../../captcha/plan/honeypot.ts';
import { newJti } from '../../../captcha/seal/sealed-course.ts';
import {
  challengeRequest,
  type ChallengeRequest,
  type ChallengeResponse,
} from '../../../contract/captcha/challenge-api.ts';
import { CLEARANCE_ACTION } from '../../../contract/captcha/challenge-constants.ts';
import { hostnameAllowed } from '../../../contract/management/site-domain.ts';
import { PAD_BYTES_MAX } from '../../../contract/management/site-settings.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { CLEARANCE_DIFFICULTY } from '../../../risk/pace.ts';
import { readBodyAs } from '../../http/body/read-body.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaRouteError } from '../../http/service-error.ts';
import { captchaEngine } from '../captcha-engine.ts';
import { recordBlocked, recordIssued, type IssueCircumstances } from '../captcha-events.ts';
import { captchaVisitor, withKnownFacts } from '../visitor.ts';
import { powPrice, priceOf } from './challenge-price.ts';
import { challengeSite, signedAccount } from './challenge-site.ts';
import { sealedEdge } from '../edge-binding.ts';
import { WAIT_MS, courseParams, issuePow, type ChallengeBase } from './issue-challenge.ts';
import { demandedOf } from './demanded-plan.ts';
import { PAD_BYTES_THROUGH_EDGE_MAX, paddedResponse } from './padded-response.ts';
import { pageHost } from './page-host.ts';

/** The largest part of a request is the user agent, at most 16 KiB. */
export const CHALLENGE_LIMITS = { maxBytes: 32 * 1024, maxFields: 100 };
const rateLimit = new RateLimit();
/** For all sites together, counted before a site is looked up, so that invented site keys cannot load the database. */
const NETWORK_CALLS_PER_MINUTE = 600;
const networkRateLimit = new RateLimit(NETWORK_CALLS_PER_MINUTE);

interface NewChallenge {
  answer: ChallengeResponse;
  padBytes: number;
  /** Of the page that the challenge is for. */
  hostname: string;
}

export async function createChallenge(
  call: ServiceCall,
): Promise<Result<ChallengeResponse | Response, CaptchaRouteError>> {
  const body = await readBodyAs(challengeRequest, call.request, CHALLENGE_LIMITS);
  if (!body.ok) return body;
  const made = await newChallenge(call, body.value, call.request.headers.get('origin'));
  if (!made.ok) return made;
  const { answer, padBytes } = made.value;
  return ok(padBytes === 0 ? answer : paddedResponse(answer, padBytes));
}

/** `origin`: of the page, as the browser sends it. */
export async function newChallenge(
  call: ServiceCall,
  body: ChallengeRequest,
  origin: string | null,
): Promise<Result<NewChallenge, CaptchaRouteError>> {
  const { nowMs } = call;
  const described = await captchaVisitor(call, body.visitor);
  if (!described.ok) return described;
  const { ip } = described.value;
  // Without an address there is no limit and no filter, so the request is refused rather than let through.
  if (ip === null) return failed({ kind: 'visitor-address-unknown' });
  // Only an edge can say who has a session.
  const payer = described.value.instance === null ? null : (body.sessionId ?? null);
  const networkLimited = networkRateLimit.takeReserved('any site', ip, payer, nowMs);
  if (networkLimited !== null) return failed(networkLimited);

  const engine = captchaEngine(call);
  const visitor = withKnownFacts(described.value, engine.addressLookup?.(ip) ?? null);
  const registered = await challengeSite(engine, body.siteKey, visitor, nowMs);
  if (!registered.ok) return registered;
  const site = registered.value;
  const page = pageHost(visitor, origin, body.currentUrl, call.serviceUrl);
  const isAllowed = page !== null && (site.accountId === null || hostnameAllowed(page.hostname, site.settings.domains));
  if (!isAllowed) return failed({ kind: 'page-not-allowed' });

  const userAccount = await signedAccount(site, body.userToken, nowMs);
  const { rule, facts, plan } = await demandedOf(call, site, visitor, {
    sessionId: body.sessionId ?? null,
    userAccount,
    hostUnverified: page.unverified,
    capabilities: { bigint: true, worker: true, script: true, audio: false, ...body.capabilities },
    level: body.level ?? 0,
  });
  const limited = rateLimit.takeReserved(site.siteKey, ip, payer, nowMs);
  if (limited !== null) return failed(limited);

  const jti = newJti();
  const identity = { jti, account_id: site.accountId ?? '', site_key: site.siteKey, timestamp: nowMs };
  const circumstances: IssueCircumstances = {
    visitor,
    facts,
    settings: site.settings,
    hostname: page.hostname,
    action: body.action ?? '',
    userAccount,
    iFrame: body.iFrame ?? null,
    lane: null,
    accessRule: rule === null ? null : { userScopeHash: rule.userScopeHash, type: rule.demand.type },
  };
  if (rule?.demand.type === 'block') {
    recordBlocked(call, identity, circumstances, 'API.ACCESS_POLICY_BLOCK');
    return failed({ kind: 'access-policy-block', requestId: call.requestId });
  }
  if (plan === null) return failed({ kind: 'script-needed' });
  if (site.accountId !== null) {
    recordIssued(call, { ...identity, captcha_type: plan.kind }, { ...circumstances, lane: plan.lane });
  }

  // A difficulty that a rule sets for this visitor stays as it is, and so does that of a test site.
  const isPriced = site.accountId !== null && rule?.demand.powDifficulty === undefined;
  const isClearance = isPriced && body.action === CLEARANCE_ACTION;
  const powDifficulty = isClearance ? Math.max(plan.powDifficulty, CLEARANCE_DIFFICULTY) : plan.powDifficulty;

  const base: ChallengeBase = {
    jti,
    bornAt: nowMs,
    siteKey: site.siteKey,
    hostname: page.hostname,
    action: body.action ?? '',
    cdata: body.cdata ?? '',
    kind: plan.kind,
    lane: plan.workLane,
    powDifficulty,
    edge: await sealedEdge(visitor),
    issuedAt: nowMs,
    // A visitor who must wait gets the time of the site after the wait: a short time could never be met otherwise.
    expiresAt: nowMs + site.settings.solutionTimeout + (plan.lane === 'wait' ? WAIT_MS : 0),
    round: 0,
    facts: { ...facts, refusal: plan.refusal },
  };
  const halfSteps = priceOf(base.action).halfSteps({ scope: site.siteKey, ip, session: payer }, nowMs);
  const price = isPriced ? powPrice(powDifficulty, halfSteps, visitor, nowMs) : powDifficulty;
  const course = { ...courseParams(plan, price), ...(isPriced ? { steps: halfSteps } : {}) };
  const task = await issuePow(engine, base, price, course);
  const honeypot = honeypotOf(site.settings);
  const privacyUrl = plan.kind === 'pow' ? undefined : site.settings.privacyUrl;
  const padBytesMax = visitor.edgeAccountId === null ? PAD_BYTES_MAX : PAD_BYTES_THROUGH_EDGE_MAX;
  return ok({
    answer: { ...task, ...(honeypot && { honeypot }), ...(privacyUrl && { privacyUrl }) },
    padBytes: Math.min(plan.padBytes, padBytesMax),
    hostname: page.hostname,
  });
}
