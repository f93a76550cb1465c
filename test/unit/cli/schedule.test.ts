/** When the local stack's scheduled runs start. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Schedule } from '../../../src/cli/schedule.ts';
import { testNow } from '../../support/clock.ts';

let startMs: number;
/** In seconds after the start. */
let runs: number[];
let isComplete: boolean;
let run: () => Promise<boolean>;
let schedule: Schedule;

beforeEach(() => {
  vi.useFakeTimers();
  startMs = testNow();
  runs = [];
  isComplete = true;
  run = async () => isComplete;
  schedule = new Schedule(() => {
    runs.push((testNow() - startMs) / 1000);
    return run();
  });
  schedule.start();
});
afterEach(() => schedule.stop());

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

test('an idle stack runs its schedule once a minute', async () => {
  await pass(180);
  expect(runs).toEqual([2, 4, 6, 8, 10, 66, 122, 178]);
});

test('a call brings a run within two seconds, and a few more', async () => {
  await pass(31);
  schedule.called();
  await pass(29);
  expect(runs).toEqual([2, 4, 6, 8, 10, 32, 34, 36, 38, 40, 42]);
});

test('a run that failed is repeated soon', async () => {
  await pass(9);
  isComplete = false;
  await pass(10);
  isComplete = true;
  await pass(30);
  expect(runs).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
});

test('a call during a long run brings another one', async () => {
  await pass(31);
  schedule.called();
  await pass(9);
  const long = Promise.withResolvers<boolean>();
  run = () => long.promise;
  await pass(5);
  schedule.called();
  await pass(15);
  run = async () => true;
  long.resolve(true);
  await pass(2);
  expect(runs.slice(-2)).toEqual([42, 62]);
});

test('a stopped schedule runs nothing', async () => {
  schedule.stop();
  await pass(180);
  expect(runs).toEqual([]);
});
