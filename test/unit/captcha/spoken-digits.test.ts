/** What a recording says: a program that knows the voices finds its digits in their order, as an ear does. */
import { expect, test } from 'vitest';
import { audioAttacks } from '../../../bench/solve/audio-attacks.ts';
import { drawAudioTask } from '../../../src/captcha/visual/audio/audio-task.ts';
import { drawRandom } from '../../../src/captcha/visual/draw-random.ts';

test('a recording says its digits in their order, each of them clearly enough to be told from the others', () => {
  const random = drawRandom(new Uint8Array(32).fill(7));
  const reader = audioAttacks.find(({ name }) => name === 'clean words over background')!;
  const said = ['01234', '56789'];
  const heard = said.map((digits) => String(reader.solve(drawAudioTask(Array.from(digits, Number), random))['digits']));
  expect(heard).toEqual(said);
});
