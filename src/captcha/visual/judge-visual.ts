/**
 * Judges tasks that a person solves. The right answer is derived again from jti and round. What the browser sends is of
 * unknown shape until it has passed here. The path of a piece only adds to the score and never refuses a solution:
 * keyboards and switches draw no path.
 */
import type { ShapeName } from '../../contract/captcha/challenge-api.ts';
import { IMAGE_TILES, audioLayout, imageLayout, puzzleLayout } from './derive-answer.ts';
import type { Keyring } from '../seal/keyring.ts';
import { puzzleTarget } from './puzzle/puzzle-task.ts';
import type { ChallengeParams, SealedChallenge } from '../seal/sealed-challenge.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';
import { AUDIO_SECONDS } from './audio/audio-task.ts';

type Solution = Readonly<Record<string, unknown>>;

/** How many of how many decisions were right: nine per image round, one per puzzle or recording. */
interface VisualJudgement {
  right: number;
  judged: number;
  /** No hand draws such a path. */
  mechanical: boolean;
}

const PATH_MAX_POINTS = 1000;
/** Fewer points prove nothing. */
const PATH_MIN_POINTS = 8;

export async function judgeVisual(
  keyring: Keyring,
  challenge: SealedChallenge,
  solution: Solution,
): Promise<VisualJudgement> {
  if (challenge.lane === 'audio') {
    const wanted = (await audioLayout(keyring, challenge)).join('');
    return { right: digitsOf(solution) === wanted ? 1 : 0, judged: 1, mechanical: false };
  }
  if (challenge.kind === 'image') {
    const { shape, tiles } = await imageLayout(keyring, challenge);
    const selected = selectionOf(solution);
    const right = selected === null ? 0 : rightTiles(tiles, shape, selected);
    return { right, judged: IMAGE_TILES, mechanical: false };
  }
  const target = puzzleTarget(await puzzleLayout(keyring, challenge));
  const { finalX, finalY } = solution;
  const tolerance = challenge.params.tolerance ?? 0;
  const fits =
    typeof finalX === 'number' &&
    typeof finalY === 'number' &&
    Math.hypot(finalX - target.x, finalY - target.y) <= tolerance;
  return { right: fits ? 1 : 0, judged: 1, mechanical: isMechanical(solution.path) };
}

/**
 * Tiles judged rightly, or 0 where most of the shapes were missed or most of the other tiles chosen: a bot that chooses
 * nothing at all is right about six tiles of nine.
 */
function rightTiles(tiles: readonly ShapeName[], shape: ShapeName, selected: ReadonlySet<number>): number {
  const count = { found: 0, missed: 0, left: 0, taken: 0 };
  for (const [index, tile] of tiles.entries()) {
    if (tile === shape) count[selected.has(index) ? 'found' : 'missed']++;
    else count[selected.has(index) ? 'taken' : 'left']++;
  }
  return count.missed > count.found || count.taken > count.left ? 0 : count.found + count.left;
}

function digitsOf(solution: Solution): string | null {
  const { digits } = solution;
  return typeof digits === 'string' && digits.length <= 32 ? digits.replaceAll(/[\s,.-]/g, '') : null;
}

/** Distinct tile numbers, or `null` for anything else. */
function selectionOf(solution: Solution): ReadonlySet<number> | null {
  const { selected } = solution;
  if (!Array.isArray(selected) || selected.length > IMAGE_TILES) return null;
  const tiles = new Set<number>();
  for (const value of selected as unknown[]) {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= IMAGE_TILES) return null;
    if (tiles.has(value)) return null;
    tiles.add(value);
  }
  return tiles;
}

/** Even steps on one straight line at an even pace, as a loop draws them. */
function isMechanical(path: unknown): boolean {
  if (!Array.isArray(path) || path.length < PATH_MIN_POINTS || path.length > PATH_MAX_POINTS) return false;
  const points = path as unknown[];
  const first = stepOf(points, 1);
  if (first === null) return false;
  for (let index = 2; index < points.length; index++) {
    const step = stepOf(points, index);
    if (step === null || step.some((part, axis) => Math.abs(part - first[axis]!) > 0.01)) return false;
  }
  return true;
}

function stepOf(points: readonly unknown[], index: number): number[] | null {
  const [from, to] = [points[index - 1], points[index]];
  if (!Array.isArray(from) || !Array.isArray(to) || from.length !== 3 || to.length !== 3) return null;
  const step = [0, 1, 2].map((axis) => Number(to[axis]) - Number(from[axis]));
  return step.every(Number.isFinite) ? step : null;
}

/** Failed tries per jti. More guesses need a new challenge, which costs more for each one (`burst-price.ts`). */
const TRIES_MAX = 3;
/** A guess hits the one answer of a puzzle far more often than the eighteen of an image or the five of a recording. */
const PUZZLE_TRIES_MAX = 2;

/**
 * What follows a round: passed, the next round, a new try, the other form of the task, or no more tries. Pure, so that the
 * whole course of a challenge can be tested without a picture.
 */
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

/** An answer before a person can give one, or without the work beside the task: a failed try, whatever it says. */
export function unjudgedStep(challenge: SealedChallenge, roundsMax: number): VisualStep {
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

/** Nine pictures to look at, two or more to press, and the button: about three seconds for quick hands. */
const IMAGE_MS = 1500;
/** A hole to find, one press or drag, and the button: about two seconds for quick hands. */
const PUZZLE_MS = 1000;
/** The recording plays at its own speed, and its last digit begins after four fifths of it. */
const HEARD_SHARE = 0.75;

/**
 * Whether a person needs more time for the task, from the issue of its round by the service's clock. That includes the way
 * of the task to the browser, which only makes it longer. An answer before that time comes from a program, however right
 * it is. The bounds are far below what anybody needs, and tools for accessibility only make an answer slower.
 */
export function answeredTooSoon(
  { kind, lane, issuedAt }: Pick<SealedChallenge, 'kind' | 'lane' | 'issuedAt'>,
  nowMs: number,
): boolean {
  return nowMs - issuedAt < leastMs(kind, lane);
}

function leastMs(kind: SealedChallenge['kind'], lane: SealedChallenge['lane']): number {
  if (lane === 'audio') return Math.round(AUDIO_SECONDS * 1000 * HEARD_SHARE);
  return kind === 'puzzle' ? PUZZLE_MS : IMAGE_MS;
}
