/** A solution or a token that was refused, for limits on failed challenges. */
import type { RequestContext } from '../decide/context.ts';
import { keySourceOf } from '../limits/key-source.ts';
import type { Limits } from '../limits/limits.ts';

export function noteFailedChallenge({ config, facts, jti, verdict }: RequestContext, limits: Limits): void {
  if (!config?.limits) return;
  limits.challengeFailed(config.limits, keySourceOf(facts, jti, verdict.bot?.id ?? null));
}
