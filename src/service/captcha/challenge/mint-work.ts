/**
 * Mints a proof of work: the task for the browser, and what the seal keeps to judge its solution. The challenges of
 * captchas and of sessions are made of it.
 */
import { encodeBase64url } from '../../../bytes/base64url.ts';
import { mintSha256 } from '../../../captcha/pow/pow-sha256.ts';
import { levelOf, squaringsOf } from '../../../captcha/pow/rsw-key.ts';
import type { ChallengeParams } from '../../../captcha/seal/sealed-challenge.ts';
import type { PowTask } from '../../../contract/captcha/challenge-api.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';

interface MintedWork {
  pow: PowTask;
  params: ChallengeParams;
  /** The one solution, where there is exactly one. */
  answer: Uint8Array | null;
}

export async function mintChallengeWork(
  engine: CaptchaEngine,
  lane: 'rsw' | 'sha256',
  powDifficulty: number,
  nowMs: number,
): Promise<MintedWork> {
  const level = levelOf(powDifficulty);
  if (lane === 'sha256') {
    const puzzles = mintSha256(squaringsOf(level));
    return { pow: { lane, ...puzzles }, params: { salt: puzzles.salt, bits: puzzles.bits }, answer: null };
  }
  const minter = await engine.minter(nowMs);
  const { t, x, y } = minter.mint(level);
  return { pow: { lane, t, n: minter.modulusText, x: encodeBase64url(x) }, params: { t }, answer: y };
}
