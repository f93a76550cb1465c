/**
 * The challenge of a session. `issueSessionChallenge` mints it for the visitor that an edge describes; `earnSession`
 * judges the solution. The challenge names the one session that it opens: sent again with the same solution and report,
 * as after a lost response, it returns that session; with anything else, nothing.
 */
import { isUnderAttack } from '../../attack/attack-state.ts';
import { networksOf } from '../../address/networks.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { BurstPrice, sessionDifficulty } from '../../captcha/plan/burst-price.ts';
import { powSolved } from '../../captcha/pow/judge-pow.ts';
import { openSealedSession, sealSession } from '../../captcha/seal/sealed-session.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { SessionCall } from '../../contract/edge/page-reports.ts';
import type { SessionChallenge } from '../../contract/captcha/challenge-api.ts';
import { failed, ok, type Result } from '../../result.ts';
import { newJtiFor } from '../../store/risk-book/client/session-books.ts';
import { captchaEngine } from '../captcha/captcha-engine.ts';
import { mintChallengeWork } from '../captcha/challenge/mint-work.ts';
import type { CaptchaRefusal } from '../http/service-error.ts';
import type { EdgeCall } from './edge-route.ts';

/** A phone that puts a page to sleep for a moment is in time; a stock of solutions does not keep. */
const CHALLENGE_MS = 300_000;
/** Four times the price: on a phone a second. Neighbours of a flood pay it as well, so there is no more. */
const LARGER_STEPS_MAX = 2;
const burstPrice = new BurstPrice(LARGER_STEPS_MAX);

/** The second call of a page, complete. */
export type SessionAnswer = {
  [Part in 'challenge' | 'solution' | 'environment']: NonNullable<SessionCall[Part]>;
};

/** The session that a solved challenge opens. The same at every repetition of the call. */
interface EarnedSession {
  jti: string;
  /** SHA-256 of the answer, which opens this session and no second time another. */
  opening: string;
}

export async function issueSessionChallenge(
  call: EdgeCall,
  visitor: EdgeVisitor,
  capabilities: SessionCall['capabilities'],
): Promise<SessionChallenge> {
  const { instance, nowMs } = call;
  const engine = captchaEngine(call);
  const lane = capabilities?.bigint === false ? 'sha256' : 'rsw';
  const burstSteps = burstPrice.take(instance.id, networksOf(visitor.ip), nowMs);
  // In an attack everybody pays the price of a flood: who has a session already pays nothing.
  const steps = isUnderAttack(instance.attack, nowMs) ? LARGER_STEPS_MAX : burstSteps;
  const { pow, params, answer } = await mintChallengeWork(engine, lane, sessionDifficulty(steps), nowMs);
  const expiresAt = nowMs + CHALLENGE_MS;
  const challenge = await sealSession(
    engine.keyring,
    {
      jti: newJtiFor(visitor.ip, nowMs),
      instanceId: instance.id,
      binding: await visitorBinding(visitor.ip, visitor.userAgent),
      host: visitor.host,
      lane,
      issuedAt: nowMs,
      expiresAt,
      params,
    },
    answer,
  );
  return { challenge, pow, expiresAt };
}

export async function earnSession(
  call: EdgeCall,
  visitor: EdgeVisitor,
  answer: SessionAnswer,
): Promise<Result<EarnedSession, CaptchaRefusal>> {
  const { instance, nowMs } = call;
  const opened = await openSealedSession(captchaEngine(call).keyring, answer.challenge, nowMs);
  if (opened === null) return failed({ kind: 'challenge-invalid' });
  const { jti, instanceId, binding, host, expiresAt } = opened.challenge;
  const isTheirs =
    instanceId === instance.id &&
    host === visitor.host &&
    binding === (await visitorBinding(visitor.ip, visitor.userAgent));
  if (!isTheirs) return failed({ kind: 'challenge-foreign' });
  if (nowMs >= expiresAt) return failed({ kind: 'challenge-late' });
  if (!(await powSolved(opened, answer.solution, nowMs))) return failed({ kind: 'solution-wrong' });

  return ok({ jti, opening: await sha256Hex(JSON.stringify(answer)) });
}
