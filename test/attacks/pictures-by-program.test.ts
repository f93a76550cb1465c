/**
 * Programs read pictures and puzzles, over HTTP and with all the time that a person takes. `npm run bench -- solve` has
 * more of them and more courses; these are the ones that a palette, a plain figure or a single gap would give away to.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { taskOf } from '../../bench/solve/attack.ts';
import type { Attack } from '../../bench/solve/attack.ts';
import { imageAttacks } from '../../bench/solve/image-attacks.ts';
import { puzzleAttacks } from '../../bench/solve/puzzle-attacks.ts';
import { solveRsw } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const COURSES = 8;
/** Every program passes now and then by chance: 1 to 10 % of courses. */
const PASSED_MAX = 3;
/** Longer than the least time of a person for any picture. */
const PATIENCE_MS = 1700;

const stack = useStack();
const siteKeys = { image: '', puzzle: '' };

beforeAll(async () => {
  for (const kind of ['image', 'puzzle'] as const) {
    const made = await manage(stack(), '/sites/create', {
      name: `${kind}-by-program`,
      settings: { domains: ['localhost'], captchaType: kind, powDifficulty: 1 },
    });
    siteKeys[kind] = (made as { siteKey: string }).siteKey;
  }
});

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${stack().serviceUrl}/captcha/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://localhost' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** Whether the first try gives a token. */
async function firstTry<Name extends 'image' | 'puzzle'>(name: Name, attack: Attack<Name>): Promise<boolean> {
  const asked = await eventually(
    () => post('/challenge', { siteKey: siteKeys[name] }),
    ({ status }) => status === 200,
  );
  const { challenge, pow } = asked.body as ChallengeResponse;
  const { n = '', x = '', t = 0 } = pow ?? {};
  let sent = { challenge, solution: { y: await solveRsw({ n, x, t }, undefined, undefined, null) } as object };
  for (;;) {
    const { body } = await post('/solution', sent);
    const { next, reason, verified } = body as SolutionResponse;
    if (next === undefined || reason !== undefined) return verified;
    const solution = attack.solve(taskOf(name, next));
    await new Promise((wake) => setTimeout(wake, PATIENCE_MS));
    sent = { challenge: next.challenge, solution };
  }
}

const named = <One extends { name: string }>(attacks: readonly One[], name: string): One =>
  attacks.find((attack) => attack.name === name)!;

describe('a program that reads pictures passes by luck alone', () => {
  test.each(['every tile', 'threshold, pieces, moments'])('by %s', async (name) => {
    const attack = named(imageAttacks, name);
    const passed = await Promise.all(Array.from({ length: COURSES }, () => firstTry('image', attack)));
    expect(passed.filter(Boolean).length).toBeLessThanOrEqual(PASSED_MAX);
  });
});

describe('a program that looks for the gap of a puzzle passes by luck alone', () => {
  test.each([
    'content of the piece, correlated',
    'edges of the piece, correlated',
    'threshold, moments like the piece',
  ])('by %s', async (name) => {
    const attack = named(puzzleAttacks, name);
    const passed = await Promise.all(Array.from({ length: COURSES }, () => firstTry('puzzle', attack)));
    expect(passed.filter(Boolean).length).toBeLessThanOrEqual(PASSED_MAX);
  });
});
