/**
 * Issues one challenge: the task for the visitor, and the seal over everything that judging its solution needs. Every
 * challenge begins with a proof of work. Where the visitor also has to solve a picture or a recording, the seal says so,
 * and that task is drawn when the work is done. A further round is issued in the same way, with the same jti.
 */
import type { ChallengePlan } from '../../../captcha/plan/choose-challenge.ts';
import { besideDifficulty } from '../../../captcha/plan/level-prices.ts';
import { drawTask } from '../../../captcha/visual/draw-task.ts';
import { type ChallengeParams, sealChallenge, type SealedChallenge } from '../../../captcha/seal/sealed-challenge.ts';
import type { ChallengeResponse } from '../../../contract/captcha/challenge-api.ts';
import type { PuzzleLook } from '../../../contract/management/site-settings.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { mintChallengeWork } from './mint-work.ts';

/** How long a visitor without scripts waits: longer than a bot stays on a page, shorter than a person accepts. */
export const WAIT_MS = 8000;

/** A challenge without its task. */
export type ChallengeBase = Omit<SealedChallenge, 'params'>;
type Minted = Pick<ChallengeResponse, 'pow' | 'image' | 'puzzle' | 'audio'>;

/** What the seal of the proof of work has for what follows it. `powDifficulty`: of that work. */
export function courseParams(plan: ChallengePlan, powDifficulty: number): ChallengeParams {
  if (plan.lane !== 'visual' && plan.lane !== 'audio') return {};
  const lane = plan.workLane === 'sha256' ? 'sha256' : 'rsw';
  const afterWork = {
    afterwards: plan.lane,
    beside: { lane, powDifficulty: besideDifficulty(powDifficulty) },
  } as const;
  if (plan.kind === 'puzzle') {
    return { ...afterWork, tolerance: plan.puzzleTolerance, hardness: plan.puzzleHardness, look: plan.puzzleLook };
  }
  return { ...afterWork, rounds: plan.imageRounds, uncounted: plan.imageUncounted, threshold: plan.imageThreshold };
}

/** A challenge that a machine solves. Where it has exactly one solution, the seal has a tag of it. */
export async function issuePow(
  engine: CaptchaEngine,
  base: ChallengeBase,
  powDifficulty: number,
  course: ChallengeParams,
): Promise<ChallengeResponse> {
  if (base.lane === 'wait') {
    const notBefore = base.issuedAt + WAIT_MS;
    return answerOf(engine, base, { ...course, notBefore }, null, {
      pow: { lane: 'wait', notBefore, waitMs: WAIT_MS },
    });
  }
  const lane = base.lane === 'sha256' ? 'sha256' : 'rsw';
  const { pow, params, answer } = await mintChallengeWork(engine, lane, powDifficulty, base.issuedAt);
  return answerOf(engine, base, { ...course, ...params }, answer, { pow });
}

/** A challenge that a person solves, drawn from the layout of its jti and round, and the work beside it that is not done yet. */
export async function issueVisual(
  engine: CaptchaEngine,
  base: ChallengeBase,
  params: ChallengeParams,
  look: PuzzleLook | undefined,
): Promise<ChallengeResponse> {
  const drawn = await drawTask(engine.keyring, { ...base, params }, look);
  if (params.beside === undefined) return answerOf(engine, base, params, null, drawn);
  const { lane, powDifficulty } = params.beside;
  const work = await mintChallengeWork(engine, lane, powDifficulty, base.issuedAt);
  return answerOf(engine, base, { ...params, ...work.params }, work.answer, { ...drawn, pow: work.pow });
}

async function answerOf(
  engine: CaptchaEngine,
  base: ChallengeBase,
  params: ChallengeParams,
  answer: Uint8Array | null,
  task: Minted,
): Promise<ChallengeResponse> {
  return {
    jti: base.jti,
    kind: base.kind,
    challenge: await sealChallenge(engine.keyring, { ...base, params }, answer),
    expiresAt: base.expiresAt,
    ...task,
  };
}
