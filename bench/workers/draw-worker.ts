/** The Worker of `npm run bench -- verify` that draws one task a call, so that the processor time of a call is that of one. */
import { audioLayout, imageLayout, lookSeed, puzzleLayout } from '../../src/captcha/visual/derive-answer.ts';
import { drawAudioTask } from '../../src/captcha/visual/audio/audio-task.ts';
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { drawImageTask } from '../../src/captcha/visual/image/image-task.ts';
import { DEFAULT_LOOK, drawPuzzleTask } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import { Keyring } from '../../src/captcha/seal/keyring.ts';

export interface DrawCall {
  /** `nothing` derives layout and look, and draws nothing: the floor. */
  task: 'nothing' | 'image' | 'puzzle' | 'audio';
  jti: string;
}

/** Decoys of a visitor with a high score: the most work. */
const HARDNESS = 4;

export default {
  async fetch(request: Request): Promise<Response> {
    const { task, jti }: DrawCall = await request.json();
    const of = { jti, round: 0, bornAt: Date.UTC(2026, 10, 20) };
    const keyring = new Keyring(async (label) => new Uint8Array(new TextEncoder().encode(label.padEnd(32))));
    const random = drawRandom(await lookSeed(keyring, of));
    const layouts = await Promise.all([imageLayout(keyring, of), puzzleLayout(keyring, of), audioLayout(keyring, of)]);
    const [image, puzzle, audio] = layouts;
    if (task === 'image') drawImageTask(image, random, 0, 2);
    if (task === 'puzzle') drawPuzzleTask(puzzle, random, DEFAULT_LOOK, HARDNESS);
    if (task === 'audio') drawAudioTask(audio, random);
    return new Response();
  },
};
