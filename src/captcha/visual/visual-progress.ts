/**
 * What follows a round: passed, the next round, a new try, the other form of the task, or no more tries. Pure, so that the whole course of a
 * challenge can be tested without a picture.
 */
import type { VisualJudgement } from './judge-visual.ts';
import type { ChallengeParams, SealedChallenge } from '../seal/sealed-challenge.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';

/** Failed tries per jti. More guesses need a new challenge, which costs more for each one (`burst-price.ts`). */
const TRIES_MAX = 3;
/** A guess hits the one answer of a puzzle far more often than the eighteen of an image or the four of a recording. */
const PUZZLE_TRIES_MAX = 2;

export type VisualStep =
  | { step: 'passed' }
  | { step: 'next'; lane: ChallengeLane; params: ChallengeParams; failed: boolean }
  | { step: 'failed' };

/** `roundsMax`: pictures shown under one jti at most, over all tries. */
export function visualStep(challenge: SealedChallenge, judgement: VisualJudgement, roundsMax: number): VisualStep {
  const { params, round } = challenge;
  const left = roundsLeft(challenge, roundsMax);
  if (challenge.kind !== 'image' || challenge.lane === 'audio') {
    return judgement.right === judgement.judged ? { step: 'passed' } : retry(challenge, params, left);
  }
  const uncounted = params.uncounted ?? 0;
  const start = params.startedAtRound ?? 0;
  const counts = round - start >= uncounted;
  const judged = (params.judged ?? 0) + (counts ? judgement.judged : 0);
  const right = (params.right ?? 0) + (counts ? judgement.right : 0);
  if (round - start + 1 < uncounted + (params.rounds ?? 1)) {
    return left
      ? { step: 'next', lane: challenge.lane, params: { ...params, judged, right }, failed: false }
      : { step: 'failed' };
  }
  if (right >= judged * (params.threshold ?? 1)) return { step: 'passed' };
  return retry(challenge, { ...params, startedAtRound: round + 1 }, left);
}

/** An answer before a person can give one: a failed try, whatever it says. */
export function tooSoonStep(challenge: SealedChallenge, roundsMax: number): VisualStep {
  const params = { ...challenge.params, startedAtRound: challenge.round + 1 };
  return retry(challenge, params, roundsLeft(challenge, roundsMax));
}

/** The same task as sound or as a picture, with the tries that are left. */
export function otherForm(challenge: SealedChallenge, audio: boolean, roundsMax: number): VisualStep {
  const { params, round } = challenge;
  const lane = audio ? 'audio' : 'visual';
  if (params.switched === true || lane === challenge.lane || !roundsLeft(challenge, roundsMax))
    return { step: 'failed' };
  const afresh = { switched: true, startedAtRound: round + 1, judged: 0, right: 0 };
  return { step: 'next', lane, params: { ...params, ...afresh }, failed: false };
}

function roundsLeft({ round }: SealedChallenge, roundsMax: number): boolean {
  return round + 1 < roundsMax;
}

function retry({ kind, lane }: SealedChallenge, params: ChallengeParams, isRoundLeft: boolean): VisualStep {
  const failures = (params.failures ?? 0) + 1;
  const most = kind === 'puzzle' && lane === 'visual' ? PUZZLE_TRIES_MAX : TRIES_MAX;
  if (failures >= most || !isRoundLeft) return { step: 'failed' };
  return { step: 'next', lane, params: { ...params, judged: 0, right: 0, failures }, failed: true };
}
