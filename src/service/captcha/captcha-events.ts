/**
 * Records what happens to a challenge: issued or blocked, submitted, verified. Test sites leave no record. Recording
 * neither delays a response nor makes it fail.
 */
import type { SealedChallenge } from '../../captcha/seal/sealed-challenge.ts';
import type { SealedFacts } from '../../captcha/seal/sealed-facts.ts';
import type { SealedToken } from '../../captcha/seal/sealed-token.ts';
import { deviceType } from '../../address/device-type.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { CaptchaEvent, CaptchaFacts } from '../../store/event-log/captcha-record.ts';
import { recordCaptcha } from '../ingest/recorders.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { Visitor } from './visitor.ts';

/** Longest user agent in a record, as in the verdict log. */
const USER_AGENT_MAX_CHARS = 1024;

export interface IssueCircumstances {
  visitor: Visitor;
  facts: SealedFacts;
  settings: SiteSettings;
  hostname: string;
  action: string;
  /** As the site's backend signed it. */
  userAccount: string | null;
  /** As the page says. */
  iFrame: boolean | null;
  lane: string | null;
  /** The access control rule that matched. */
  accessRule: { userScopeHash: string; type: 'block' | 'restrict' } | null;
}

type RecordingCall = Pick<ServiceCall, 'store' | 'nowMs' | 'waitUntil'>;
type Identity = Pick<CaptchaEvent, 'jti' | 'account_id' | 'site_key' | 'timestamp' | 'captcha_type'>;

export function recordIssued(call: RecordingCall, identity: Identity, circumstances: IssueCircumstances): void {
  recordCaptcha(call.store, { ...identity, event: 'issued', facts: factsOf(circumstances) }, call.waitUntil);
}

export function recordBlocked(
  call: RecordingCall,
  identity: Omit<Identity, 'captcha_type'>,
  circumstances: IssueCircumstances,
  reason: string,
): void {
  const facts = factsOf(circumstances);
  recordCaptcha(call.store, { ...identity, captcha_type: 'blocked', event: 'blocked', facts, reason }, call.waitUntil);
}

export function recordSubmitted(
  call: RecordingCall,
  accountId: string,
  challenge: SealedChallenge,
  outcome: { correct: boolean; reason: string | null; facts: SealedFacts | null },
): void {
  const event: CaptchaEvent = {
    ...identityOf(challenge, accountId),
    event: 'submitted',
    at: call.nowMs,
    correct: outcome.correct,
    reason: outcome.reason,
    score: outcome.facts?.score ?? null,
    detectors: outcome.facts?.detectors ?? [],
  };
  recordCaptcha(call.store, event, call.waitUntil);
}

export function recordVerified(
  call: RecordingCall,
  accountId: string,
  token: SealedToken,
  outcome: { verified: boolean; reason: string | null; userAccount: string | null },
): void {
  const { verified, reason, userAccount } = outcome;
  const { score, detectors } = token.facts;
  const event: CaptchaEvent = {
    ...identityOf(token, accountId),
    event: 'verified',
    at: call.nowMs,
    verified,
    reason,
    score,
    detectors,
    user_account: userAccount,
  };
  recordCaptcha(call.store, event, call.waitUntil);
}

function identityOf(of: SealedChallenge | SealedToken, accountId: string): Identity {
  return {
    jti: of.jti,
    account_id: accountId,
    site_key: of.siteKey,
    timestamp: of.bornAt,
    captcha_type: of.kind,
  };
}

function factsOf(given: IssueCircumstances): CaptchaFacts {
  const { visitor, facts, settings, accessRule } = given;
  const threshold = settings.frictionlessThreshold;
  return {
    ip: visitor.ip,
    asn: visitor.asn,
    country: visitor.country,
    ja4: visitor.ja4,
    user_agent: visitor.userAgent.slice(0, USER_AGENT_MAX_CHARS),
    device_type: deviceType(visitor.userAgent, null),
    ip_category: visitor.categories ?? [],
    host: given.hostname,
    action: given.action === '' ? null : given.action,
    lane: given.lane,
    user_account: given.userAccount,
    session: facts.session,
    web_view: facts.webView,
    iframe: given.iFrame,
    score: facts.score,
    threshold: typeof threshold === 'number' ? threshold : threshold.frictionlessPuzzleThreshold,
    detectors: facts.detectors,
    selection_reason: selectionReason(given),
    access_rule: accessRule?.userScopeHash ?? null,
    policy_type: accessRule?.type ?? null,
  };
}

/** Why a captcha was chosen, in the words that other services use; `null` if the setting of the site alone chose it. */
function selectionReason({ facts, settings, accessRule }: IssueCircumstances): string | null {
  if (accessRule?.type === 'block') return 'ACCESS_POLICY_BLOCK';
  if (accessRule !== null) return 'USER_ACCESS_POLICY';
  if (settings.captchaType !== 'frictionless') return null;
  const threshold = settings.frictionlessThreshold;
  const above = facts.score >= (typeof threshold === 'number' ? threshold : threshold.frictionlessPuzzleThreshold);
  return above ? 'BOT_SCORE_ABOVE_THRESHOLD' : null;
}
