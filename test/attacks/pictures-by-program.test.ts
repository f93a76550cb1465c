/**
 * Programs without training read pictures and puzzles, over HTTP and with all the time that a person takes: the ones that
 * a palette, a plain figure or a single gap would give the answer to. A trained network reads the pictures
 * (`npm run bench -- solve`), and pays the work.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Attack, taskOf } from '../../bench/solve/attack.ts';
import { imageAttacks } from '../../bench/solve/image-attacks.ts';
import { puzzleAttacks } from '../../bench/solve/puzzle-attacks.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

/** Every program passes now and then by chance: 1 to 10 % of courses. One that passes 30 % reads the pictures. */
const LUCKY_SHARE = 0.1;
const READING_SHARE = 0.3;
/**
 * Courses run until Wald's sequential test has decided between the two. Whatever the number of courses, a program at
 * `READING_SHARE` is taken for lucky with a probability of at most 1 %, and a lucky one fails in at most one of a thousand
 * runs. Nineteen courses without a pass decide, and a program that passes 10 % takes forty on average. A fixed number
 * with the same errors would be 120.
 */
const LUCKY_BELOW = Math.log(0.01);
const READING_ABOVE = Math.log(1000);
const PASSED_WEIGHT = Math.log(READING_SHARE / LUCKY_SHARE);
const FAILED_WEIGHT = Math.log((1 - READING_SHARE) / (1 - LUCKY_SHARE));
const COURSES_AT_ONCE = 10;
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

/** `null`: the call was lost. A busy machine loses one now and then, or answers it with an error. */
async function post(path: string, body: unknown): Promise<unknown> {
  try {
    const response = await fetch(`${stack().serviceUrl}/captcha/v1${path}`, {
      method: 'POST',
      // Between two calls of a course, the server may end a connection that the client is about to use again.
      headers: { 'content-type': 'application/json', origin: 'http://localhost', connection: 'close' },
      body: JSON.stringify(body),
    });
    return response.status < 500 ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Whether the first try gives a token. A course that lost a call begins again: it tells nothing of the program. */
async function firstTry<Name extends 'image' | 'puzzle'>(name: Name, attack: Attack<Name>): Promise<boolean> {
  const asked = await eventually(
    () => post('/challenge', { siteKey: siteKeys[name] }),
    (answer) => answer !== null && 'challenge' in (answer as object),
  );
  const { challenge, pow } = asked as ChallengeResponse;
  let sent = { challenge, solution: (await solveWork(pow!)) as object };
  for (;;) {
    const answer = await post('/solution', sent);
    if (answer === null) return firstTry(name, attack);
    const { next, reason, verified } = answer as SolutionResponse;
    if (next === undefined || reason !== undefined) return verified;
    const work = next.pow === undefined ? {} : await solveWork(next.pow);
    const solution = { ...attack.solve(taskOf(name, next)), ...work };
    await new Promise((wake) => setTimeout(wake, PATIENCE_MS));
    sent = { challenge: next.challenge, solution };
  }
}

/** Whether a program that passes a course when `course` says so reads the pictures, or is lucky now and then. */
async function judged(course: () => Promise<boolean>): Promise<'lucky' | 'reading'> {
  let weight = 0;
  for (;;) {
    const passed = await Promise.all(Array.from({ length: COURSES_AT_ONCE }, course));
    for (const hasPassed of passed) {
      weight += hasPassed ? PASSED_WEIGHT : FAILED_WEIGHT;
      if (weight <= LUCKY_BELOW) return 'lucky';
      if (weight >= READING_ABOVE) return 'reading';
    }
  }
}

const named = <One extends { name: string }>(attacks: readonly One[], name: string): One =>
  attacks.find((attack) => attack.name === name)!;

describe('a program that reads pictures passes by luck alone', () => {
  test.each(['every tile', 'threshold, pieces, moments'])('by %s', async (name) => {
    const attack = named(imageAttacks, name);
    expect(await judged(() => firstTry('image', attack))).toBe('lucky');
  });
});

describe('a program that looks for the gap of a puzzle passes by luck alone', () => {
  test.each([
    'content of the piece, correlated',
    'edges of the piece, correlated',
    'threshold, moments like the piece',
  ])('by %s', async (name) => {
    const attack = named(puzzleAttacks, name);
    expect(await judged(() => firstTry('puzzle', attack))).toBe('lucky');
  });
});
