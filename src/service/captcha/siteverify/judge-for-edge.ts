/**
 * What an edge's visitor must have solved to count, computed at this moment: for their risk now, their address now and
 * the site's settings now. A token of an easier challenge, or of another visitor's, is refused before it is spent.
 */
import { siteDemandOf } from '../../../captcha/plan/choose-challenge.ts';
import { demandAt, meets, proofFrom } from '../../../captcha/plan/demand.ts';
import type { SealedToken } from '../../../captcha/seal/sealed-token.ts';
import { CLEARANCE_ACTION } from '../../../contract/captcha/challenge-constants.ts';
import type { VerifyReason } from '../../../contract/captcha/siteverify.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { demandedOf } from '../challenge/demanded-plan.ts';
import type { ChallengeSite } from '../challenge/challenge-site.ts';
import { isIssuedTo } from '../edge-binding.ts';
import type { Visitor } from '../visitor.ts';

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
