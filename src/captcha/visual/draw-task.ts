/** Draws the task of a round: the recording, the puzzle or the picture that its seal says, from the layout of the round. */
import type { ChallengeResponse } from '../../contract/captcha/challenge-api.ts';
import type { PuzzleLook } from '../../contract/management/site-settings.ts';
import type { Keyring } from '../seal/keyring.ts';
import type { ChallengeParams, SealedChallenge } from '../seal/sealed-challenge.ts';
import { drawAudioTask } from './audio/audio-task.ts';
import { audioLayout, imageLayout, lookSeed, puzzleLayout } from './derive-answer.ts';
import { drawRandom } from './draw-random.ts';
import { drawImageTask } from './image/image-task.ts';
import { DEFAULT_LOOK, drawPuzzleTask } from './puzzle/puzzle-task.ts';

export type DrawnTask = Pick<ChallengeResponse, 'image' | 'puzzle' | 'audio'>;

/** `look`: of the site's puzzles. */
export async function drawTask(
  keyring: Keyring,
  of: Pick<SealedChallenge, 'jti' | 'bornAt' | 'round' | 'kind' | 'lane' | 'params'>,
  look: PuzzleLook | undefined,
): Promise<DrawnTask> {
  const { params } = of;
  const random = drawRandom(await lookSeed(keyring, of));
  if (of.lane === 'audio') return { audio: drawAudioTask(await audioLayout(keyring, of), random) };
  if (of.kind === 'puzzle') {
    const layout = await puzzleLayout(keyring, of);
    return { puzzle: drawPuzzleTask(layout, random, lookOf(look ?? DEFAULT_LOOK, params.look), params.hardness ?? 0) };
  }
  const shown = of.round - (params.startedAtRound ?? 0);
  const rounds = (params.rounds ?? 1) + (params.uncounted ?? 0);
  return { image: drawImageTask(await imageLayout(keyring, of), random, shown, rounds) };
}

function lookOf(look: PuzzleLook, change: ChallengeParams['look']): PuzzleLook {
  const changed = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return { ...look, ...(Object.fromEntries(changed) as Partial<PuzzleLook>) };
}
