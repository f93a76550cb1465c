/**
 * Picture and audio tasks with known solutions, drawn by the service's own code.
 */
import type { Page } from 'playwright-core';
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { drawAudioTask } from '../../src/captcha/visual/audio/audio-task.ts';
import { drawImageTask } from '../../src/captcha/visual/image/image-task.ts';
import {
  BOARD_HEIGHT,
  BOARD_WIDTH,
  DEFAULT_LOOK,
  drawPuzzleTask,
  PIECE_PX,
  puzzleTarget,
  TRAY_HEIGHT,
} from '../../src/captcha/visual/puzzle/puzzle-task.ts';
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
export const digits = '31407';
/** Where a visitor clicks to move the piece there at once. */
export const puzzleMiddle = { x: puzzleAnswer.x + PIECE_PX / 2, y: puzzleAnswer.y + PIECE_PX / 2 };
export const puzzleWidth = BOARD_WIDTH;
const TOLERANCE_PX = 6;
const OTHERS = ['circle', 'heart', 'cross', 'moon', 'square', 'arrow', 'triangle'] as const;

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
  const tiles = Array.from({ length: 9 }, (_, index): ShapeName =>
    wanted.includes(index) ? 'star' : OTHERS[(index + round) % OTHERS.length]!,
  );
  return {
    task: { image: drawImageTask({ shape: 'star', tiles }, random, round, starTiles.length) },
    isRight: ({ selected }) => JSON.stringify(selected) === JSON.stringify(wanted),
  };
}

/** Moves the focused piece to its opening by arrow keys, ten steps at once where it is far. */
export async function pressToAnswer(page: Page): Promise<void> {
  const piece = page.getByRole('application', { name: 'Circle to move' });
  const [left, top] = await piece.evaluate((node: HTMLElement) => [
    Number.parseFloat(node.style.left) / 100,
    Number.parseFloat(node.style.top) / 100,
  ]);
  const press = async (key: string, pixels: number): Promise<void> => {
    for (let steps = Math.round(pixels / 2); steps > 0; steps -= steps >= 10 ? 10 : 1)
      await page.keyboard.press(steps >= 10 ? `Shift+${key}` : key);
  };
  const right = puzzleAnswer.x - left! * BOARD_WIDTH;
  const down = puzzleAnswer.y - top! * (BOARD_HEIGHT + TRAY_HEIGHT);
  await press(right < 0 ? 'ArrowLeft' : 'ArrowRight', Math.abs(right));
  await press(down < 0 ? 'ArrowUp' : 'ArrowDown', Math.abs(down));
}
