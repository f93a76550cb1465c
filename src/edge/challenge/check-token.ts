/**
 * Asks `/siteverify` about a token, as the edge: audience `edge`, so that the site's own backend can still verify the
 * same token once, at least the level this instance asks for, and enough for this visitor's risk now. A service that
 * implements only the documented interface gets only the documented fields.
 */
import { namedBotId } from '../../bots/bot-proof.ts';
import { demandAt, meets } from '../../captcha/plan/demand.ts';
import { POW_DIFFICULTY_MAX } from '../../captcha/plan/level-prices.ts';
import { encodeUtf8 } from '../../bytes/utf8.ts';
import { TOKEN_MAX_CHARS } from '../../contract/captcha/challenge-constants.ts';
import type { SiteverifyAnswer } from '../../contract/captcha/siteverify-answer.ts';
import { failed, ok, type Result } from '../../result.ts';
import { verifyToken } from '../../verify/siteverify-client.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import { openSessionId, type RequestContext } from '../decide/context.ts';
import type { Solved } from '../session/clearances.ts';
import { edgeVisitorOf } from '../session/visitor.ts';
import { LOCAL_LEVEL, isLocal, type LocalChallenges } from './local-challenge.ts';
import type { Limits } from '../limits/limits.ts';
import { keySourceOf } from '../request/facts.ts';
import type { EdgeEnvironment } from '../environment.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import type { BodyBudget } from '../submission/body-budget.ts';
import type { WaitLane } from './wait-lane.ts';

/** A person waits for a verification, and it spends the token, so it gets more time than a feed call. */
const VERIFY_TIMEOUT_MS = 3000;

const LEVEL_TOO_LOW = 'level';
const QUOTES = 2;

/** What the challenges use of an isolate. */
export interface ChallengePorts {
  environment: Pick<EdgeEnvironment, 'rules' | 'siteverify' | 'failModeChallenge' | 'failModeVerify'>;
  service: Pick<ServiceClient, 'reachable'>;
  bodies: BodyBudget;
  limits: Limits;
  localChallenges: LocalChallenges;
  waitLane: WaitLane;
  count: Count;
}

export interface CheckedToken {
  solved: Solved;
  isLocal: boolean;
}
export type TokenFault =
  /**
   * `too-easy`: solved, but for less than is asked here. `expired`: its time was over. `reason`: a key of the service, or
   * the edge's own word.
   */
  | { kind: 'refused' | 'too-easy' | 'expired'; reason: string }
  /** Nobody could check it. */
  | { kind: 'unchecked' };
type TokenCheck = Result<CheckedToken, TokenFault>;

/** `action`: the action the token must have, or `null` for any. */
export async function checkToken(
  context: RequestContext,
  config: CompiledConfig,
  { environment, localChallenges, count }: ChallengePorts,
  token: string,
  action: string | null,
): Promise<TokenCheck> {
  if (isLocal(token)) return checkLocal(context, config, localChallenges, token);
  if (!canBeToken(token)) return refused('malformed-token');
  const { facts, verdict } = context;
  const sessionId = openSessionId(context);
  const { rules, siteverify } = environment;
  const level = levelFor(config, verdict);
  const asked = await verifyToken({
    url: siteverify.url,
    secret: config.secretKey,
    token,
    ip: facts.signals.ip,
    ...(rules.kind === 'service'
      ? {
          bearer: rules.clientJwt,
          level,
          audience: 'edge' as const,
          visitor: edgeVisitorOf(facts, verdict.riskScore),
          ...(sessionId === null ? {} : { sessionId }),
          ...(action === null ? {} : { action }),
        }
      : {}),
    timeoutMs: VERIFY_TIMEOUT_MS,
    fetch: (request) => (siteverify.service ? siteverify.service.fetch(request) : fetch(request)),
  });
  if (!asked.ok) {
    count(`verify_failures{kind="${asked.error.kind}"}`);
    return failed({ kind: 'unchecked' });
  }
  const answer = asked.value;
  count(`verifications{verified="${answer.verified}"}`);
  if (!answer.verified) return refused(answer.reason ?? 'not-verified');
  const solved = rules.kind === 'service' ? solvedOf(answer) : vouchedFor(answer, level);
  // The service was asked to insist on both; they count only where its answer repeats them.
  if (solved === null || solved.level < level) return refused(LEVEL_TOO_LOW);
  if (rules.kind === 'service' && action !== null && answer.action !== action) return refused('action');
  return ok({ solved: { ...solved, jti: solved.jti || facts.requestId }, isLocal: false });
}

/** The lowest level that counts here: the instance's, or the one of the policy that challenges. */
function levelFor({ policy }: CompiledConfig, { levelWanted }: RequestContext['verdict']): number {
  return Math.max(policy.clearanceLevel, levelWanted);
}

/**
 * No service issues a token that JSON writes much longer, or cannot write. Such a text could make the whole question one
 * that the service refuses, which must not look like a fault of the service.
 */
function canBeToken(token: string): boolean {
  return token.isWellFormed() && encodeUtf8(JSON.stringify(token)).length <= TOKEN_MAX_CHARS + QUOTES;
}

function refused(reason: string): TokenCheck {
  const isTooEasy = reason === LEVEL_TOO_LOW || reason === 'API.LEVEL_TOO_LOW';
  // Other services have words of their own for it.
  const isExpired = reason === 'API.TIMESTAMP_TOO_OLD' || /expired|timeout/i.test(reason);
  return failed({ kind: isTooEasy ? 'too-easy' : isExpired ? 'expired' : 'refused', reason });
}

function solvedOf({ jti = '', level = 0, kind, powDifficulty, eased = false }: SiteverifyAnswer): Solved | null {
  return kind === undefined || powDifficulty === undefined ? null : { jti, level, kind, powDifficulty, eased };
}

/** Another service says only that its own demand was met, so there is nothing to compare. */
function vouchedFor({ jti = '', level: reached }: SiteverifyAnswer, level: number): Solved {
  return { jti, level: reached ?? level, kind: 'image', powDifficulty: POW_DIFFICULTY_MAX, eased: false };
}

async function checkLocal(
  { facts, verdict }: RequestContext,
  config: CompiledConfig,
  localChallenges: LocalChallenges,
  token: string,
): Promise<TokenCheck> {
  const opened = await localChallenges.open(config, facts, token);
  if (!opened.ok) return refused(opened.error.kind);
  const { jti, powDifficulty } = opened.value;
  const solved: Solved = { jti, level: LOCAL_LEVEL, kind: 'pow', powDifficulty, eased: false };
  const clearanceLevel = levelFor(config, verdict);
  const demand = demandAt(config.site, { ...config.policy, clearanceLevel }, verdict.riskScore ?? 0);
  if (clearanceLevel > LOCAL_LEVEL || !meets(solved, demand)) return refused(LEVEL_TOO_LOW);
  return localChallenges.spend(opened.value) ? ok({ solved, isLocal: true }) : refused('local-token');
}

/** A token that was refused, for limits on failed challenges. Nobody failed where it was too easy, or not checked. */
export function noteRefusedToken(context: RequestContext, limits: Limits, { kind }: TokenFault): void {
  if (kind === 'refused' || kind === 'expired') noteFailedChallenge(context, limits);
}

/** A solution or a token that was refused, for limits on failed challenges. */
export function noteFailedChallenge({ config, facts, jti, verdict }: RequestContext, limits: Limits): void {
  if (!config?.limits) return;
  limits.challengeFailed(config.limits, keySourceOf(facts, jti, namedBotId(verdict.bot)));
}
