// A stack of its own: its service is told the time.
/**
 * What newcomers of a network notice of somebody in it who sends an attack at full rate: their first page, their session and a
 * form. This is the first seconds of each attack, in simulated time; `npm run bench -- neighbours` runs ten minutes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWithClock, type Neighbours, startNeighbours } from '../../bench/neighbours/start-neighbours.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { startTestStack } from '../support/stack.ts';

const NEWCOMERS = { newcomers: 10, addresses: 10 };
const OTHERS = 246;
/** Nothing was refused, and what was asked for cost what it costs on a quiet day. */
const UNNOTICED = { refused: null, sessionPrice: 150_000, formPrice: 75_000 };
const everybody = Array.from({ length: NEWCOMERS.newcomers }, () => UNNOTICED);

let stack: Stack;
let neighbours: Neighbours;
beforeAll(async () => {
  stack = await startTestStack({ bundle: bundleWithClock, seedChanges: {}, schedule: false });
  neighbours = await startNeighbours(stack);
});
afterAll(async () => {
  await neighbours.stop();
  await stack.stop();
});

type Plan = Pick<Parameters<Neighbours['run']>[0], 'attack' | 'attackers' | 'family' | 'seconds'>;
const visitsBeside = async (plan: Plan) => (await neighbours.run({ ...plan, ...NEWCOMERS })).visits;

describe('newcomers notice nothing of a neighbour’s', () => {
  test.each(['posts', 'pages', 'asked', 'refused', 'cookies', 'wrong', 'files'] as const)(
    '%s from one address',
    async (attack) => {
      expect(await visitsBeside({ attack, attackers: 1, family: 4, seconds: 20 })).toEqual(everybody);
    },
  );

  test('posts from all other /64s of their /56', async () => {
    expect(await visitsBeside({ attack: 'posts', attackers: OTHERS, family: 6, seconds: 10 })).toEqual(everybody);
  });

  test('pages from 25 addresses of a /24, whose reserves leave ten', async () => {
    expect(await visitsBeside({ attack: 'pages', attackers: 25, family: 4, seconds: 20 })).toEqual(everybody);
  });
});

test('pages from 30 addresses of a /24 use up all reserves, and then newcomers meet the challenge', async () => {
  const visits = await visitsBeside({ attack: 'pages', attackers: 30, family: 4, seconds: 20 });
  expect(visits.filter(({ refused }) => refused !== null).length).toBeGreaterThan(0);
});
