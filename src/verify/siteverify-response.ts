/**
 * Shapes a judgement into what a caller may see: `verified` always, `score` on premium, `reason` on paid tiers and to
 * the edge.
 */
import type { SiteverifyResponse } from '../contract/captcha/siteverify.ts';
import type { AccountTier } from '../contract/vocabulary.ts';
import { proofFrom } from '../captcha/plan/demand.ts';
import type { Judgement } from '../captcha/verify/judge-token.ts';

export interface ResponseScope {
  tier: AccountTier;
  audience: 'site' | 'edge';
  /** Fields of the request that could not be read and did not count. The caller sent them, so every tier shows them. */
  ignored: readonly string[];
}

/** `ip` and `email` work on every tier but free. */
export function paidTier(tier: AccountTier): boolean {
  return tier !== 'free';
}

export function siteverifyResponseOf(judgement: Judgement, scope: ResponseScope): SiteverifyResponse {
  const { token } = judgement;
  const paid = paidTier(scope.tier) || scope.audience === 'edge';
  const notEvaluated = [...scope.ignored, ...(paid ? judgement.notEvaluated : [])];
  return {
    verified: judgement.verified,
    ...(scope.tier === 'premium' && token !== null ? { score: token.facts.score } : {}),
    ...(judgement.reason !== null && paid ? { reason: judgement.reason } : {}),
    ...(judgement.verified && token !== null
      ? {
          jti: token.jti,
          ...(token.action === '' ? {} : { action: token.action }),
          hostname: token.hostname,
          level: token.level,
          challengeTimestamp: token.issuedAt,
          ...(scope.audience === 'edge' ? { ...proofFrom(token), ...(judgement.eased ? { eased: true } : {}) } : {}),
        }
      : {}),
    ...(notEvaluated.length > 0 ? { notEvaluated } : {}),
  };
}
