/** Both proof-of-work lanes: honest work passes, and nothing cheaper does. */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url } from '../../../src/bytes/base64url.ts';
import { powSolved, solvedSuspiciouslyFast } from '../../../src/captcha/pow/judge-pow.ts';
import { checkSha256, mintSha256 } from '../../../src/captcha/pow/pow-sha256.ts';
import { leadingZeroBits, solveRsw, solveSha256, toBigInt, toBytes } from '../../../src/captcha/pow/pow-solve.ts';
import { generateRswKey, levelOf, power, type RswKey, squaringsOf } from '../../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../../src/captcha/pow/rsw-mint.ts';
import {
  openChallenge,
  type OpenedChallenge,
  sealChallenge,
  type SealedChallenge,
} from '../../../src/captcha/seal/sealed-challenge.ts';
import { expectRows } from '../../support/rows.ts';
import { challenge, keyringOf, NOON } from './sealing-fixtures.ts';

const keyring = keyringOf('ours');
async function opened(over: Partial<SealedChallenge>, answer: Uint8Array | null): Promise<OpenedChallenge> {
  const read = await openChallenge(keyring, await sealChallenge(keyring, { ...challenge, ...over }, answer), NOON);
  if (read === null) throw new Error('did not open');
  return read;
}

describe('difficulty', () => {
  test('takes squarings that double with every one and a half levels', () =>
    expectRows(
      [
        [1, 18_750],
        [4, 75_000],
        [4.5, 94_494],
        [5.5, 150_000],
        [7, 300_000],
        [10, 1_200_000],
      ],
      ([difficulty, squarings]) => {
        expect(squaringsOf(levelOf(difficulty))).toBe(squarings);
      },
    ));

  test('is rounded to the nearest half step, and each half step costs more', () => {
    expect(levelOf(4.2)).toBe(levelOf(4));
    expect(levelOf(4.3)).toBe(levelOf(4.5));
    const all = Array.from({ length: 19 }, (_, level) => squaringsOf(level));
    expect(all.toSorted((a, b) => a - b)).toEqual(all);
  });

  test('outside its range is refused', () =>
    expectRows([Number.NaN, Infinity, -Infinity, 0, 0.99, 10.01, -4], (difficulty) => {
      expect(() => levelOf(difficulty)).toThrow(RangeError);
    }));
});

describe('the RSW lane', () => {
  let key: RswKey;
  let minter: RswMinter;
  beforeAll(async () => {
    key = await generateRswKey(20_000);
    minter = new RswMinter(key);
  });

  test('mints challenges whose answer takes 2^t squarings', async () => {
    for (const level of [0, 6]) {
      const { x, y, t } = minter.mint(level);
      const solved = await solveRsw(
        { n: encodeBase64url(minter.modulus), x: encodeBase64url(x), t },
        undefined,
        undefined,
        null,
      );
      expect(solved).toBe(encodeBase64url(y));
    }
  });

  test('agrees with plain exponentiation at every level', () => {
    // The exponent e of x = g^e is unknown here; the relation between the bases of the levels is known.
    for (const [level, base] of key.levels.entries()) {
      if (level > 2) break;
      expect(power(key.generator, 2n ** BigInt(squaringsOf(level)), key.modulus)).toBe(base);
    }
  });

  test('has a modulus of 2,048 bits and never repeats a challenge', () => {
    expect(key.modulus.toString(2)).toHaveLength(2048);
    const seen = new Set(Array.from({ length: 2000 }, () => encodeBase64url(minter.mint(0).x)));
    expect(seen.size).toBe(2000);
  });

  test('accepts an answer without its leading zeros, as programs write numbers', async () => {
    let minted = minter.mint(0);
    while (minted.y[0] !== 0) minted = minter.mint(0);
    const { y, t } = minted;
    const read = await opened({ params: { t } }, y);
    const minimal = y.slice(y.findIndex((byte) => byte !== 0));
    expect(await powSolved(read, { y: encodeBase64url(y) }, NOON)).toBe(true);
    expect(await powSolved(read, { y: encodeBase64url(minimal) }, NOON)).toBe(true);
    const between = new Uint8Array([0, ...minimal]);
    expect(await powSolved(read, { y: encodeBase64url(between) }, NOON)).toBe(between.length === 256);
    expect(await powSolved(read, { y: encodeBase64url(minimal.slice(1)) }, NOON)).toBe(false);
    expect(await powSolved(read, { y: '' }, NOON)).toBe(false);
  });

  test('accepts the canonical answer and no other number of the same residue', async () => {
    const { x, y, t } = minter.mint(0);
    const n = key.modulus;
    const answer = toBigInt(y);
    const read = await opened({ params: { t } }, y);
    expect(await powSolved(read, { y: encodeBase64url(y) }, NOON)).toBe(true);
    const wrong: [string, unknown][] = [
      ['x itself', encodeBase64url(x)],
      ['y + n', encodeBase64url(toBytes(answer + n, 257))],
      ['n − y', encodeBase64url(toBytes(n - answer, 256))],
      ['zero', encodeBase64url(new Uint8Array(256))],
      ['one', encodeBase64url(toBytes(1n, 256))],
      ['n − 1', encodeBase64url(toBytes(n - 1n, 256))],
      ['n', encodeBase64url(toBytes(n, 256))],
      ['a leading zero more', encodeBase64url(toBytes(answer, 257))],
      ['hexadecimal', answer.toString(16)],
      ['decimal', answer.toString()],
      ['padding', `${encodeBase64url(y)}=`],
      [
        'stray bits',
        encodeBase64url(y).replace(/.$/, (last) => (last === 'A' ? 'B' : String.fromCharCode(last.charCodeAt(0) + 1))),
      ],
      ['white space', ` ${encodeBase64url(y)}`],
      ['empty', ''],
      ['an array', [encodeBase64url(y)]],
      ['a number', 7],
      ['null', null],
    ];
    for (const [name, given] of wrong) {
      expect(await powSolved(read, { y: given }, NOON), name).toBe(false);
    }
  });

  test('says how far it is, so that another page can solve the rest', async () => {
    const { x, y, t } = minter.mint(0);
    const task = { n: minter.modulusText, x: encodeBase64url(x), t };
    const rests: (typeof task)[] = [];
    const note = (done: number, at: string) => void rests.push({ ...task, x: at, t: Math.round(t * (1 - done)) });
    await solveRsw(task, note, undefined, null);
    expect(await solveRsw(rests[3]!, undefined, undefined, null)).toBe(encodeBase64url(y));
  });

  test('reports progress to the end and stops when cancelled', async () => {
    const { x, t } = minter.mint(0);
    const task = { n: encodeBase64url(minter.modulus), x: encodeBase64url(x), t };
    const seen: number[] = [];
    await solveRsw(task, (done) => seen.push(done), undefined, null);
    expect(seen.at(-1)).toBe(1);
    expect(seen.length).toBeGreaterThan(5);
    expect(await solveRsw(task, undefined, () => true)).toBeNull();
  });

  test('detects a chain that was computed faster than in any browser', async () => {
    const read = await opened({ params: { t: 1_200_000 } }, null);
    expect(solvedSuspiciouslyFast(read, NOON + 300)).toBe(true);
    expect(solvedSuspiciouslyFast(read, NOON + 400)).toBe(false);
  });
});

describe('the SHA-256 lane', () => {
  const salt = encodeBase64url(crypto.getRandomValues(new Uint8Array(32 * 16)));
  const bits = 6;

  test('hashes as SHA-256 does', () => {
    for (let index = 0; index < 500; index++) {
      const message = crypto.getRandomValues(new Uint8Array(20));
      const digest = createHash('sha256').update(message).digest();
      expect(leadingZeroBits(message)).toBe(Math.clz32(digest.readUInt32BE(0)));
    }
  });

  test('accepts honest counters', async () => {
    const counters = await solveSha256({ salt, count: 32, bits }, undefined, undefined, null);
    expect(checkSha256(salt, bits, counters)).toBe(true);
  });

  test('accepts no counters that miss one target', async () => {
    const counters = decodeBase64url((await solveSha256({ salt, count: 32, bits }, undefined, undefined, null))!)!;
    const rejected = Array.from({ length: 32 }, (_, index) => {
      const wrong = counters.slice();
      // After a solution, only one in 64 of the next counters is a solution as well.
      wrong[index * 4 + 1] = (wrong[index * 4 + 1] ?? 0) ^ 0x80;
      return checkSha256(salt, bits, encodeBase64url(wrong));
    }).filter((accepted) => !accepted);
    expect(rejected.length).toBeGreaterThan(28);
    expect(checkSha256(salt, bits, encodeBase64url(new Uint8Array(32 * 4)))).toBe(false);
  });

  test('accepts no counters of another form', () =>
    expectRows(
      [
        ['too few', encodeBase64url(new Uint8Array(31 * 4))],
        ['too many', encodeBase64url(new Uint8Array(33 * 4))],
        ['none', ''],
        ['decimal', '1,2,3'],
        ['a list', [1, 2, 3]],
        ['nothing', undefined],
      ],
      ([, counters]) => {
        expect(checkSha256(salt, 0, counters)).toBe(false);
      },
    ));

  test('accepts nothing for an empty salt', () => {
    expect(checkSha256('', 0, '')).toBe(false);
  });

  test('never repeats a puzzle in another challenge', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 500; index++) {
      const salts = decodeBase64url(mintSha256(18_750).salt)!;
      for (let at = 0; at < salts.length; at += 16) seen.add(encodeBase64url(salts.subarray(at, at + 16)));
    }
    expect(seen.size).toBeGreaterThanOrEqual(500 * 32);
  });

  test('costs about 57 hashes per squaring, in 32 to 63 puzzles', () => {
    for (let level = 0; level < 19; level++) {
      const { count, bits: each } = mintSha256(squaringsOf(level));
      expect(count).toBeGreaterThanOrEqual(32);
      expect(count).toBeLessThanOrEqual(64);
      expect((count * 2 ** each) / squaringsOf(level)).toBeCloseTo(57, -1);
    }
  });
});
