/**
 * Times single functions in this process: minting and checking a proof of work here, in altcha-lib and in
 * @cap.js/server, and drawing the visual tasks.
 */
import Cap from '@cap.js/server';
import { createChallenge, randomInt, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey as pbkdf2 } from 'altcha-lib/algorithms/pbkdf2';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { powSolved } from '../../src/captcha/pow/judge-pow.ts';
import { toBigInt } from '../../src/captcha/pow/pow-solve.ts';
import { generateRswKey, levelOf } from '../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import type { Keyring } from '../../src/captcha/seal/keyring.ts';
import { openChallenge, sealChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import { openToken } from '../../src/captcha/seal/sealed-token.ts';
import { drawAudioTask } from '../../src/captcha/visual/audio/audio-task.ts';
import { drawImageTask } from '../../src/captcha/visual/image/image-task.ts';
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import { audioLayout, imageLayout, lookSeed, puzzleLayout } from '../../src/captcha/visual/derive-answer.ts';
import { DEFAULT_LOOK, drawPuzzleTask } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import { median, percentile } from '../measure/statistics.ts';
import { newChallenge, sealedToken } from './sealed-token.ts';

/** Long enough for a median that repeats, short enough to wait for. */
const FUNCTION_MS = 1500;
const SAMPLE_MAX = 20_000;

export async function timeFunctions(keyring: Keyring): Promise<Record<string, object>> {
  const nowMs = Date.now();
  const setUp = performance.now();
  const minter = new RswMinter(await generateRswKey(0));
  const level = levelOf(4);
  minter.mint(level);
  const setUpMs = performance.now() - setUp;
  const { x, y, t } = minter.mint(level);
  const sealed = await sealChallenge(keyring, { ...newChallenge(nowMs), params: { t } }, y);
  const token = await sealedToken(keyring, { siteKey: 'site-0123456789abcdef', hostname: 'bench.example' });
  const layout = { jti: newJti(), round: 0, bornAt: nowMs };
  const [image, puzzle, audio] = await Promise.all([
    imageLayout(keyring, layout),
    puzzleLayout(keyring, layout),
    audioLayout(keyring, layout),
  ]);
  const random = drawRandom(await lookSeed(keyring, layout));
  const solution = { y: encodeBase64url(y) };
  const altcha = await altchaCase();
  const cap = new Cap({ noFSState: true, disableAutoCleanup: true });
  const solutions = Array.from({ length: 50 }, () => 0);
  const mint = await timed('mint', () => minter.mint(level));
  const squarings = squaringsFrom(toBigInt(x), toBigInt(minter.modulus));
  const check = await timed('check', async () => {
    const opened = await openChallenge(keyring, sealed, nowMs);
    if (opened === null || !(await powSolved(opened, solution, nowMs))) throw new Error('The solution was refused');
  });
  console.log(`Daily RSW set-up (key, two comb tables): ${setUpMs.toFixed(0)} ms. x is ${x.length} bytes.`);
  return {
    'Floor: 18 squarings modulo n, as many as a mint multiplies': row(await timed('floor', squarings), mint),
    'Gatehouse: mint RSW x and y': row(mint, mint, 100),
    'Gatehouse: mint and seal a challenge': row(
      await timed('seal', () =>
        sealChallenge(keyring, { ...newChallenge(nowMs), params: { t } }, minter.mint(level).y),
      ),
      mint,
    ),
    'altcha-lib 2.8.0: createChallenge, PBKDF2 5,000': row(await timed('altcha', altcha.create), mint),
    '@cap.js/server 4.0.5: createChallenge': row(await timed('cap', () => cap.createChallenge()), mint),
    'Gatehouse: open challenge, check answer': row(check, check),
    'altcha-lib 2.8.0: verifySolution': row(await timed('altcha', altcha.verify), check),
    '@cap.js/server 4.0.5: redeemChallenge, 50 puzzles': row(
      // A wrong solution costs the same 50 hashes, and needs no search.
      await timed('cap', async () => {
        const { token: id = '' } = await cap.createChallenge();
        await cap.redeemChallenge({ token: id, solutions });
      }),
      check,
    ),
    'Gatehouse: open a token': row(await timed('token', () => openToken(keyring, token, nowMs)), check),
    'Gatehouse: draw an image task': row(await timed('image', () => drawImageTask(image, random, 0, 2)), null, 4000),
    'Gatehouse: draw a puzzle': row(
      await timed('puzzle', () => drawPuzzleTask(puzzle, random, DEFAULT_LOOK, 4)),
      null,
      4000,
    ),
    'Gatehouse: make a recording': row(await timed('audio', () => drawAudioTask(audio, random)), null, 20_000),
  };
}

/** The best that the machine's BigInt allows: a mint is 18 multiplications and some bookkeeping. */
function squaringsFrom(start: bigint, modulus: bigint): () => void {
  let value = start;
  return () => {
    for (let count = 0; count < 18; count++) value = (value * value) % modulus;
  };
}

async function altchaCase(): Promise<{ create: () => Promise<unknown>; verify: () => Promise<unknown> }> {
  const secrets = { hmacSignatureSecret: 'bench', hmacKeySignatureSecret: 'bench-key' };
  const create = () =>
    createChallenge({
      algorithm: 'PBKDF2/SHA-256',
      cost: 5000,
      counter: randomInt(5000, 10_000),
      deriveKey: pbkdf2,
      ...secrets,
    });
  // A counter that is found at once: the check is measured, not the search.
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: 5000,
    counter: 1,
    deriveKey: pbkdf2,
    ...secrets,
  });
  const solution = await solveChallenge({ challenge, deriveKey: pbkdf2 });
  if (solution === null) throw new Error('altcha-lib found no solution');
  return {
    create,
    async verify() {
      const { verified } = await verifySolution({ challenge, solution, deriveKey: pbkdf2, ...secrets });
      if (!verified) throw new Error('altcha-lib refused its own solution');
    },
  };
}

/** Microseconds of single calls, after a warm-up of a fifth of the time. */
async function timed(name: string, work: () => unknown): Promise<number[]> {
  const warmUntil = performance.now() + FUNCTION_MS / 5;
  while (performance.now() < warmUntil) await work();
  const samples: number[] = [];
  const until = performance.now() + FUNCTION_MS;
  while (performance.now() < until && samples.length < SAMPLE_MAX) {
    const started = performance.now();
    await work();
    samples.push((performance.now() - started) * 1000);
  }
  if (samples.length === 0) throw new Error(`${name} took too long to measure`);
  return samples;
}

function row(samples: readonly number[], beside: readonly number[] | null, targetMicroseconds?: number): object {
  const p50 = median(samples);
  return {
    'p50 µs': p50.toFixed(1),
    'p99 µs': percentile(samples, 0.99).toFixed(1),
    'per second': Math.round(1_000_000 / p50),
    'ratio to ours': beside === null ? '' : (p50 / median(beside)).toFixed(2),
    'target µs': targetMicroseconds ?? '',
  };
}
