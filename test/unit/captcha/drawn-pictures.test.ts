/**
 * A round that is sent again must look the same to the last bit, also after an upgrade in between: the digests below are
 * of the first drawings of these seeds. They change only with a drawing that is changed on purpose.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { drawAudioTask } from '../../../src/captcha/visual/audio/audio-task.ts';
import {
  audioLayout,
  imageLayout,
  type LayoutOf,
  lookSeed,
  puzzleLayout,
} from '../../../src/captcha/visual/derive-answer.ts';
import { type DrawRandom, drawRandom } from '../../../src/captcha/visual/draw-random.ts';
import { drawImageTask } from '../../../src/captcha/visual/image/image-task.ts';
import { DEFAULT_LOOK, drawPuzzleTask } from '../../../src/captcha/visual/puzzle/puzzle-task.ts';
import { keyringOf, NOON } from './sealing-fixtures.ts';

const ROUNDS = 100;
const keyring = keyringOf('drawn pictures');
const looks = [
  DEFAULT_LOOK,
  { ...DEFAULT_LOOK, decoyCount: 0, holeDarken: 0.9, decoyEdgeDarkness: 40, decoyBodyBrightness: 30 },
  { ...DEFAULT_LOOK, decoyCount: 12, pieceScale: { min: 0.15, max: 0.45 } },
];

const draw: Record<string, (of: LayoutOf, random: DrawRandom) => Promise<object>> = {
  image: async (of, random) => drawImageTask(await imageLayout(keyring, of), random, 0, 2),
  puzzle: async (of, random) =>
    drawPuzzleTask(await puzzleLayout(keyring, of), random, looks[of.round % looks.length]!, of.round % 5),
  recording: async (of, random) => drawAudioTask(await audioLayout(keyring, of), random),
};

async function digestOf(kind: string, rounds: number): Promise<string> {
  const hash = createHash('sha256');
  for (let round = 0; round < rounds; round++) {
    const of = { jti: '00112233445566778899aabbccddeeff', round, bornAt: NOON };
    const drawn = await draw[kind]!(of, drawRandom(await lookSeed(keyring, of)));
    hash.update(JSON.stringify(drawn));
  }
  return hash.digest('hex');
}

test.each([
  { kind: 'image', rounds: ROUNDS, digest: '25d1843f1e6e8011c8e10a9a74c447b5e81794c552a73acd5a413d7e26679ed9' },
  { kind: 'puzzle', rounds: ROUNDS, digest: '58e7317a8df9bd660fe34a0874cb4959f216dfa1eb19b6a88e9c1dade9abe935' },
  { kind: 'recording', rounds: 10, digest: 'dc2f21a5d77e6d88963b88f9d87371650931c2f622643b177df0e4f61a9d3dbf' },
])('$rounds seeds draw each $kind as they always have', async ({ kind, rounds, digest }) => {
  expect(await digestOf(kind, rounds)).toBe(digest);
});
