/**
 * What a visitor must do now: the access control rule that matches them, the facts and the score, and the plan that
 * follows. Computed when a challenge is asked for, and again when the token of one comes back through an edge, so that
 * nobody brings an answer to an easier question.
 */
import type { MatchedAccessRule } from '../../../captcha/plan/access-rules.ts';
import { type Capabilities, type ChallengePlan, chooseChallenge } from '../../../captcha/plan/choose-challenge.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { matchingAccessControlRule } from '../access-control-rules.ts';
import { captchaEngine } from '../captcha-engine.ts';
import type { Visitor } from '../visitor.ts';
import type { ChallengeSite } from './challenge-site.ts';
import { visitorFacts } from './visitor-facts.ts';

interface DemandCircumstances {
  /** Of the Protect session, if any. */
  sessionId: string | null;
  /** The visitor's account, which the site's backend vouches for. */
  userAccount: string | null;
  hostUnverified: boolean;
  capabilities: Capabilities;
  /** The lowest level that counts where the visitor wants to go; the page says so. */
  level?: number;
}

interface Demanded {
  rule: MatchedAccessRule | null;
  facts: SealedFacts;
  /** `null`: a visitor without script who must not pass by waiting. */
  plan: ChallengePlan | null;
}

export async function demandedOf(
  call: ServiceCall,
  site: ChallengeSite,
  visitor: Visitor,
  { sessionId, userAccount, hostUnverified, capabilities, level = 0 }: DemandCircumstances,
): Promise<Demanded> {
  const { accountId, settings } = site;
  // A rule counts only what the visitor could not choose: a session that an edge has checked.
  const checkedSession = visitor.instance === null ? null : sessionId;
  const userIds = [userAccount, checkedSession].filter((userId) => userId !== null);
  const rule =
    accountId === null
      ? null
      : await matchingAccessControlRule(call.store, accountId, { ...visitor, userIds }, call.nowMs);
  const facts = await visitorFacts(captchaEngine(call).keyring, visitor, {
    day: keyDay(call.nowMs),
    hostUnverified,
    session: sessionId,
    ruleScore: rule?.demand.frictionlessScore ?? 0,
  });
  const plan = chooseChallenge({
    settings,
    score: facts.score,
    webView: facts.webView,
    traits: { categories: facts.categories, network: facts.network, abuseScore: visitor.abuseScore },
    demand: rule?.demand ?? null,
    instance: visitor.instance && { policy: visitor.instance, risk: visitor.sessionRisk },
    capabilities,
    level,
  });
  return { rule, facts, plan };
}
