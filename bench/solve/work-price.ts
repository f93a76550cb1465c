/**
 * What the proof of work costs one processor, in this process: the time-lock by BigInt, as in a browser, and the SHA-256
 * lane by the plain JavaScript of the widget.
 */
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { besideDifficulty } from '../../src/captcha/plan/level-prices.ts';
import { solveRsw, solveSha256 } from '../../src/captcha/pow/pow-solve.ts';
import { mintSha256 } from '../../src/captcha/pow/pow-sha256.ts';
import { generateRswKey, levelOf, squaringsOf } from '../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import { median } from '../measure/statistics.ts';

const RUNS = 9;
/** The SHA-256 lane is many small lotteries, and slow in JavaScript. */
const SHA256_RUNS = 3;

export interface WorkPrice {
  squarings: number;
  timeLockMs: number;
  /** To solve both time-locks of a token of level 2: the one before the picture and the one beside it. */
  pictureMs: number;
  hashes: number;
  sha256Ms: number;
}

export async function workPrice(): Promise<WorkPrice> {
  const { powDifficulty } = siteSettings.parse({ domains: ['bench.example'] });
  const level = levelOf(powDifficulty);
  const squarings = squaringsOf(level);
  const pictureSquarings = squarings + squaringsOf(levelOf(besideDifficulty(powDifficulty)));
  const minter = new RswMinter(await generateRswKey(0));
  const { modulusText: n } = minter;
  const timeLocks: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { x, t } = minter.mint(level);
    timeLocks.push(await cpuMs(() => solveRsw({ n, x: encodeBase64url(x), t }, undefined, undefined, null)));
  }
  const hashed: number[] = [];
  const { count, bits } = mintSha256(squarings);
  for (let run = 0; run < SHA256_RUNS; run++) {
    const puzzles = mintSha256(squarings);
    hashed.push(await cpuMs(() => solveSha256(puzzles, undefined, undefined, null)));
  }
  const timeLockMs = median(timeLocks);
  const pictureMs = (timeLockMs * pictureSquarings) / squarings;
  return { squarings, timeLockMs, pictureMs, hashes: count * 2 ** bits, sha256Ms: median(hashed) };
}

async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
