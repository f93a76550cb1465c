/**
 * What native code on one core needs for a session, for tokens, and for the default tasks of other products, as this
 * machine's OpenSSL computes them. A hash counts as one compression of SHA-256, without anything around it: a lower bound.
 */
import { createHash, pbkdf2Sync } from 'node:crypto';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { ATTACK_STEPS } from '../../src/attack/attack-state.ts';
import { sessionDifficulty } from '../../src/captcha/plan/tariffs.ts';
import { besideDifficulty } from '../../src/captcha/plan/level-prices.ts';
import { generateRswKey, levelOf, squaringsOf } from '../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import { instancePolicy } from '../../src/contract/management/instance-policy.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import { CLEARANCE_DIFFICULTY, PIECE_DIFFICULTY } from '../../src/risk/pace.ts';
import { squaredNatively } from '../../test/support/native-squarings.ts';
import { rounded } from '../measure/statistics.ts';
import { pagesOfADay, piecesOfADay } from './stock.ts';

/** Pieces of work that a session solves in each ten minutes, one row of the table for each. */
const PIECES_OF_WINDOWS = [0, 1, 2, 8];
const COMPRESSION_BYTES = 64;
const HASHED_BYTES = 256 * 1024 * 1024;
const KEYS = 200;

/** Anubis v1.27: `DefaultDifficulty`, zeros in hex. Its cookie is good for a week of pages. */
const ANUBIS_HASHES = 16 ** 4;
/** ALTCHA 3.2: PBKDF2 with 5,000 iterations for each of 5,000 to 10,000 keys. */
const ALTCHA = { iterations: 5000, keys: 7500 };
/** Cap 4.0: 50 puzzles of 4 zeros in hex. */
const CAP_HASHES = 50 * 16 ** 4;

export async function nativeWork(): Promise<Record<string, object>> {
  const minter = new RswMinter(await generateRswKey(0));
  const { powDifficulty } = siteSettings.parse({ domains: ['bench.example'] });
  const [worse, worst] = instancePolicy.parse({}).challengeDifficulty;
  const lock = (difficulty: number): object => ({
    work: `${squaringsOf(levelOf(difficulty))} squarings`,
    'CPU-seconds for one': rounded(lockSeconds(minter, difficulty), 3),
    'CPU-seconds for 1,000': rounded(1000 * lockSeconds(minter, difficulty), 1),
  });
  const hashes = (count: number): object => {
    const seconds = count * hashSeconds();
    return {
      work: `${count} hashes`,
      'CPU-seconds for one': rounded(seconds, 4),
      'CPU-seconds for 1,000': rounded(1000 * seconds, 1),
    };
  };
  const keySeconds = pbkdf2Seconds();
  return {
    'a session': lock(sessionDifficulty(0)),
    'a piece of work': lock(PIECE_DIFFICULTY),
    'a clearance': lock(CLEARANCE_DIFFICULTY),
    'a token, level 1': lock(powDifficulty),
    'a token, level 1, attack mode': lock(powDifficulty + ATTACK_STEPS / 2),
    'a token, level 1, risk 0.5': lock(worse!.powDifficulty!),
    'a token, level 2, before its picture': lock(worst!.powDifficulty!),
    'a token, level 2, beside its picture': lock(besideDifficulty(worst!.powDifficulty!)),
    'Anubis, default difficulty': hashes(ANUBIS_HASHES),
    'ALTCHA, default': {
      work: `${ALTCHA.keys} keys of ${ALTCHA.iterations} iterations`,
      'CPU-seconds for one': rounded(ALTCHA.keys * keySeconds, 3),
      'CPU-seconds for 1,000': rounded(1000 * ALTCHA.keys * keySeconds, 1),
    },
    'Cap, default': hashes(CAP_HASHES),
  };
}

/** What a session costs and gives that is kept for its whole day, by how much it works in each window. */
export async function stockOfSessions(): Promise<Record<string, object>> {
  const minter = new RswMinter(await generateRswKey(0));
  const session = lockSeconds(minter, sessionDifficulty(0));
  const piece = lockSeconds(minter, PIECE_DIFFICULTY);
  const rows = PIECES_OF_WINDOWS.map((pieces): [string, object] => {
    const pages = pagesOfADay(pieces);
    const seconds = session + piecesOfADay(pieces) * piece;
    const row = {
      'pages of a day': pages,
      'CPU-seconds of a day': rounded(seconds, 3),
      'pages for a CPU-second': Math.round(pages / seconds),
    };
    return [`a session that is kept, ${pieces} pieces of work in each ten minutes`, row];
  });
  return Object.fromEntries(rows);
}

function lockSeconds(minter: RswMinter, powDifficulty: number): number {
  const { x, t } = minter.mint(levelOf(powDifficulty));
  return cpuSeconds(() => squaredNatively({ n: minter.modulusText, x: encodeBase64url(x), t }));
}

function hashSeconds(): number {
  const bytes = Buffer.alloc(HASHED_BYTES);
  return cpuSeconds(() => createHash('sha256').update(bytes).digest()) / (HASHED_BYTES / COMPRESSION_BYTES);
}

function pbkdf2Seconds(): number {
  const derive = (): void => {
    for (let key = 0; key < KEYS; key++) pbkdf2Sync(String(key), 'salt', ALTCHA.iterations, 32, 'sha256');
  };
  return cpuSeconds(derive) / KEYS;
}

function cpuSeconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
