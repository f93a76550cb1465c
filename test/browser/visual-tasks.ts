/**
 * Picture and audio tasks with known solutions, drawn by the service's own code.
 */
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { drawAudioTask } from '../../src/captcha/visual/audio/audio-task.ts';
import { drawImageTask } from '../../src/captcha/visual/image/image-task.ts';
import { DEFAULT_LOOK, drawPuzzleTask, puzzleTarget } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import type { ChallengeResponse, ShapeName } from '../../src/contract/captcha/challenge-api.ts';

export interface VisualTask {
  task: Pick<ChallengeResponse, 'image' | 'puzzle' | 'audio'>;
  isRight: (solution: Record<string, unknown>) => boolean;
}

/** Tiles with stars, the shape to choose, by round. */
export const starTiles = [
  [1, 4, 8],
  [0, 3, 5],
] as const;
export const puzzlePlace = { x: 0.6, y: 0.4 };
export const puzzleAnswer = puzzleTarget(puzzlePlace);
export const digits = '3142';
const TOLERANCE_PX = 6;

export function visualTask(kind: 'image' | 'puzzle', audio: boolean, round: number): VisualTask {
  const random = drawRandom(crypto.getRandomValues(new Uint8Array(32)));
  if (audio)
    return {
      task: { audio: drawAudioTask(Array.from(digits, Number), random) },
      isRight: (solution) => solution['digits'] === digits,
    };
  if (kind === 'puzzle')
    return {
      task: { puzzle: drawPuzzleTask({ ...puzzlePlace, shape: 'star' }, random, DEFAULT_LOOK, 0) },
      isRight: ({ finalX, finalY }) =>
        Math.abs(Number(finalX) - puzzleAnswer.x) <= TOLERANCE_PX &&
        Math.abs(Number(finalY) - puzzleAnswer.y) <= TOLERANCE_PX,
    };
  const wanted: readonly number[] = starTiles[round] ?? [];
  const tiles = Array.from({ length: 9 }, (_, index): ShapeName => (wanted.includes(index) ? 'star' : 'circle'));
  return {
    task: { image: drawImageTask({ shape: 'star', tiles }, random, round, starTiles.length) },
    isRight: ({ selected }) => JSON.stringify(selected) === JSON.stringify(wanted),
  };
}
