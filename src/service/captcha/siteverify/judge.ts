/** What a token must be worth at this moment, for a site's backend and for an edge. */
import { type AccessDemand, siteDemandOf } from '../../../captcha/plan/choose-challenge.ts';
import { demandAt, meets, proofFrom } from '../../../captcha/plan/demand.ts';
import type { SealedToken } from '../../../captcha/seal/sealed-token.ts';
import type { VerifyQuestion } from '../../../captcha/verify/judge-token.ts';
import type { VerifyReason } from '../../../contract/captcha/siteverify.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { matchingAccessControlRule } from '../access-control-rules.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { CLEARANCE_ACTION } from '../../../contract/captcha/challenge-constants.ts';
import { demandedOf } from '../challenge/demanded-plan.ts';
import type { ChallengeSite } from '../challenge/challenge-site.ts';
import { isIssuedTo } from '../edge-binding.ts';
import type { Visitor } from '../visitor.ts';

/**
 * What the access control rules say of the visitor whom a site's backend describes: by `ip` whether a rule refuses it,
 * and by `userAccount` also whether the token is as hard as a rule demands. A visitor can leave out or borrow what
 * their page says about them, and not what the backend says here.
 */
export async function judgeForBackend(
  call: ServiceCall,
  engine: CaptchaEngine,
  site: SiteRecord,
  token: SealedToken,
  { ip, userAccount }: VerifyQuestion,
): Promise<VerifyReason | null> {
  if (ip === null && userAccount === null) return null;
  const known = ip === null ? null : (engine.addressLookup?.(ip) ?? null);
  const visitor = {
    ip,
    userIds: userAccount === null ? [] : [userAccount],
    ja4: null,
    userAgent: '',
    // Where nothing is known of the address, or none is named, the network of the challenge counts.
    country: known?.country ?? token.facts.country,
    asn: known?.asn ?? token.facts.asn,
  };
  const matched = await matchingAccessControlRule(call.store, site.accountId, visitor, call.nowMs);
  if (matched === null) return null;
  const { demand } = matched;
  if (demand.type === 'block' || demand.deferToVerify === true) return 'API.ACCESS_POLICY_BLOCK';
  return userAccount === null || isMet(token, demand) ? null : 'API.LEVEL_TOO_LOW';
}

function isMet(token: SealedToken, { captchaType, powDifficulty }: AccessDemand): boolean {
  const kind = captchaType === undefined || captchaType === 'frictionless' ? 'pow' : captchaType;
  const mayWait = kind === 'pow' && powDifficulty === undefined;
  return meets(proofFrom(token), { kind, powDifficulty: powDifficulty ?? 0, mayWait });
}

/** The visitor who shows the token, as the edge describes them. */
export interface Presented {
  visitor: Visitor;
  sessionId: string | null;
}

export interface EdgeJudgement {
  refusal: VerifyReason | null;
  /** A rule, or the visitor's context, asks for less than the site does. */
  eased: boolean;
}

/**
 * What an edge's visitor must have solved to count, computed at this moment: for their risk now, their address now and
 * the site's settings now. A token of an easier challenge, or of another visitor's, is refused before it is spent.
 */
export async function judgeForEdge(
  call: ServiceCall,
  site: ChallengeSite,
  token: SealedToken,
  { visitor, sessionId }: Presented,
): Promise<EdgeJudgement> {
  // A form may have its token from the service itself. Clearance lets a visitor past the edge, so it is for them alone.
  if (token.action === CLEARANCE_ACTION && !(await isIssuedTo(token, visitor))) return refused('API.VISITOR_MISMATCH');
  const { lane } = token;
  const capabilities = { bigint: true, worker: true, script: lane !== 'wait', audio: lane === 'audio' };
  const { plan } = await demandedOf(call, site, visitor, {
    sessionId,
    userAccount: null,
    hostUnverified: false,
    capabilities,
  });
  if (plan === null) return refused('API.LEVEL_TOO_LOW');
  if (plan.refusal !== null) return refused(plan.refusal);
  const demanded = proofFrom(plan);
  if (!meets(proofFrom(token), { ...plan, mayWait: plan.lane === 'wait' })) return refused('API.LEVEL_TOO_LOW');
  const { instance, sessionRisk } = visitor;
  const bySettings = instance && demandAt(siteDemandOf(site.settings), instance, sessionRisk);
  return { refusal: null, eased: bySettings !== null && !meets(demanded, bySettings) };
}

function refused(refusal: VerifyReason): EdgeJudgement {
  return { refusal, eased: false };
}
