/**
 * What the access control rules say of the visitor whom a site's backend describes: by `ip` whether a rule refuses it,
 * and by `userAccount` also whether the token is as hard as a rule demands. A visitor can leave out or borrow what their
 * page says about them, and not what the backend says here.
 */
import type { AccessDemand } from '../../../captcha/plan/choose-challenge.ts';
import { meets, proofFrom } from '../../../captcha/plan/demand.ts';
import type { SealedToken } from '../../../captcha/seal/sealed-token.ts';
import type { VerifyQuestion } from '../../../captcha/verify/judge-token.ts';
import type { VerifyReason } from '../../../contract/captcha/siteverify.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { matchingAccessRule } from '../access-rules/matching-access-rule.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';

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
  const matched = await matchingAccessRule(call.store, site.accountId, visitor, call.nowMs);
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
