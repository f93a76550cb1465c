/**
 * A solver in native code pays less for a proof of work than a browser does, and nobody can see it work in batches. It
 * gains nothing by claiming an old browser, every token costs it a whole work, and a token of work is never a picture.
 */
import { hash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { solveRsw } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack();
const DIFFICULTIES = [1, 4, 7, 10] as const;
/** What GMP pays for one squaring of 2,048 bits, in hashes of a core with SHA instructions. */
const HASHES_PER_SQUARING = 57;
const sites = new Map<number, { siteKey: string; secretKey: string }>();

beforeAll(async () => {
  for (const powDifficulty of DIFFICULTIES) {
    const settings = { domains: ['localhost'], captchaType: 'pow', powDifficulty };
    const made = await manage(stack(), '/sites/create', { name: `work-${powDifficulty}`, settings });
    sites.set(powDifficulty, made as { siteKey: string; secretKey: string });
  }
});

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${stack().serviceUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://localhost' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function ask(powDifficulty: number, capabilities: object): Promise<ChallengeResponse> {
  const body = { siteKey: sites.get(powDifficulty)?.siteKey, capabilities };
  const answer = await eventually(
    () => post('/captcha/v1/challenge', body),
    ({ status }) => status === 200,
  );
  return answer.body as ChallengeResponse;
}

const send = async (challenge: ChallengeResponse, solution: object): Promise<SolutionResponse> =>
  (await post('/captcha/v1/solution', { challenge: challenge.challenge, solution })).body as SolutionResponse;

/** The SHA-256 lane by OpenSSL. */
function solveNatively({ pow }: ChallengeResponse): { counters: string } {
  const { salt = '', count = 0, bits = 0 } = pow ?? {};
  const salts = Buffer.from(salt, 'base64url');
  const counters = Buffer.alloc(count * 4);
  const message = Buffer.alloc(20);
  for (let puzzle = 0; puzzle < count; puzzle++) {
    salts.copy(message, 0, puzzle * 16, (puzzle + 1) * 16);
    let counter = -1;
    do message.writeUInt32BE(++counter, 16);
    while (Math.clz32(hash('sha256', message, 'buffer').readUInt32BE(0)) < bits);
    counters.writeUInt32BE(counter, puzzle * 4);
  }
  return { counters: counters.toString('base64url') };
}

test('an old browser’s hashes are no bargain for native code at any difficulty', () =>
  expectRows(DIFFICULTIES, async (difficulty) => {
    const squarings = (await ask(difficulty, {})).pow?.t ?? 0;
    expect(squarings).toBeGreaterThan(0);
    for (const claim of [{ bigint: false }, { bigint: false, worker: false }]) {
      const { lane, count = 0, bits = 0 } = (await ask(difficulty, claim)).pow ?? {};
      expect(lane).toBe('sha256');
      // The number of puzzles is a whole one.
      expect((count * 2 ** bits) / squarings).toBeGreaterThan(HASHES_PER_SQUARING * 0.98);
    }
  }));

describe('a batch of native solutions', () => {
  test('pays a whole work for each token, and none counts for another challenge', async () => {
    const batch = await Promise.all(Array.from({ length: 4 }, () => ask(1, {})));
    expect(new Set(batch.map(({ pow }) => pow?.x)).size).toBe(batch.length);
    const solutions = await Promise.all(
      batch.map(async ({ pow }) => ({
        y: await solveRsw({ n: pow?.n ?? '', x: pow?.x ?? '', t: pow?.t ?? 0 }, undefined, undefined, null),
      })),
    );
    for (const [index, challenge] of batch.entries()) {
      const foreign = await send(challenge, solutions[(index + 1) % batch.length]!);
      expect(foreign.token).toBeUndefined();
      expect((await send(challenge, solutions[index]!)).token).toBeDefined();
    }
  });

  test('gets tokens of level 1 and none of level 2', async () => {
    const challenge = await ask(1, { bigint: false });
    const { token } = await send(challenge, solveNatively(challenge));
    const secret = sites.get(1)?.secretKey;
    const verify = (level: number) => post('/siteverify', { secret, token, level });
    expect((await verify(2)).body).toMatchObject({ verified: false });
    expect((await verify(1)).body).toMatchObject({ verified: true, level: 1 });
  });
});
