/**
 * Attacks by trained networks: one for pictures and puzzles, one for recordings. Each is trained by this process, once,
 * in plain TypeScript on one core.
 */
import type { Attack } from '../attack.ts';
import { newPictureNetwork, pictureAttacks, trainPictureNetwork } from './picture-model.ts';
import { newSoundNetwork, soundAttack, trainSoundNetwork } from './sound-model.ts';
import { trained } from './training.ts';

const PICTURE_STEPS = 800;
const SOUND_STEPS = 400;

export interface TrainedAttack<Name extends 'image' | 'puzzle' | 'audio'> {
  attack: Attack<Name>;
  /** What the training of its network took. Pictures and puzzles share one. */
  trainingMinutes: number;
}

export function pictureModels(again: boolean): { image: TrainedAttack<'image'>; puzzle: TrainedAttack<'puzzle'> } {
  const { network, cpuMinutes: trainingMinutes } = trained(
    { name: 'pictures', make: newPictureNetwork, train: trainPictureNetwork, steps: PICTURE_STEPS },
    again,
  );
  const { image, puzzle } = pictureAttacks(network);
  return { image: { attack: image, trainingMinutes }, puzzle: { attack: puzzle, trainingMinutes } };
}

export function soundModel(again: boolean): TrainedAttack<'audio'> {
  const { network, cpuMinutes: trainingMinutes } = trained(
    { name: 'sound', make: newSoundNetwork, train: trainSoundNetwork, steps: SOUND_STEPS },
    again,
  );
  return { attack: soundAttack(network), trainingMinutes };
}
