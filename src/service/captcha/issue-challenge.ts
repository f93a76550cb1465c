/**
 * Mints one challenge of a plan: the task for the visitor, and the seal over all that judging its
 * solution will need.
 */
import { encodeBase64url } from '../../challenge/base64url.ts';
import type { ChallengePlan } from '../../challenge/choose-challenge.ts';
import { mintSha256 } from '../../challenge/pow-sha256.ts';
import { levelOf, squaringsOf } from '../../challenge/rsw-key.ts';
import { sealChallenge } from '../../challenge/sealed-challenge.ts';
import type { SealedChallenge } from '../../challenge/sealed-challenge.ts';
import type { ChallengeAnswer, PowTask } from '../../contract/challenge-api.ts';
import type { CaptchaEngine } from './engine.ts';

/** How long a visitor without script waits: above a bot's patience per page, below a person's. */
const WAIT_MS = 8000;

/** Everything of a challenge but its task. */
export type ChallengeBase = Omit<SealedChallenge, 'kind' | 'lane' | 'params'>;

export async function issueChallenge(
  engine: CaptchaEngine,
  plan: ChallengePlan,
  base: ChallengeBase,
): Promise<ChallengeAnswer> {
  const { params, task, answer } = await powTaskOf(engine, plan, base.issuedAt);
  const sealed: SealedChallenge = { ...base, kind: plan.kind, lane: plan.lane, params };
  return {
    jti: base.jti,
    kind: plan.kind,
    challenge: await sealChallenge(engine.keyring, sealed, answer),
    expiresAt: base.expiresAt,
    pow: task,
  };
}

interface MintedPow {
  params: SealedChallenge['params'];
  task: PowTask;
  /** Canonical bytes of the answer, where there is exactly one. */
  answer: Uint8Array | null;
}

async function powTaskOf(engine: CaptchaEngine, plan: ChallengePlan, nowMs: number): Promise<MintedPow> {
  if (plan.lane === 'wait') {
    const notBefore = nowMs + WAIT_MS;
    return { params: { notBefore }, task: { lane: 'wait', notBefore, waitMs: WAIT_MS }, answer: null };
  }
  const level = levelOf(plan.powDifficulty);
  if (plan.lane === 'sha256') {
    const puzzles = mintSha256(squaringsOf(level));
    return {
      params: { salt: puzzles.salt, bits: puzzles.bits },
      task: { lane: 'sha256', ...puzzles },
      answer: null,
    };
  }
  const minter = await engine.minter(nowMs);
  const { t, x, y } = minter.mint(level);
  return {
    params: { t },
    task: { lane: 'rsw', t, n: encodeBase64url(minter.modulus), x: encodeBase64url(x) },
    answer: y,
  };
}
