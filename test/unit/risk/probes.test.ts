/** Questions about the engine: who answers them as a browser does is right in every load, and who does not is found. */
import { describe, expect, test } from 'vitest';
import type { EnvironmentReport } from '../../../src/contract/edge/page-reports.ts';
import type { Probes } from '../../../src/contract/edge/probes.ts';
import { askProbes, hasWrongAnswers } from '../../../src/risk/probes/ask-probes.ts';
import { withAnswers } from '../../support/probe-answers.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX, environmentOf } from './session-facts.ts';

const LOADS = 300;
const firefox: Partial<EnvironmentReport> = {
  engine: 'gecko',
  marks: ['gecko-css', 'gecko-screen'],
  hints: null,
  userAgent: FIREFOX,
};

/** In how many of a hundred loads the report that `answer` makes is found. */
function foundPercent(userAgent: string, answer: (probes: Probes, load: number) => EnvironmentReport): number {
  const loads = Array.from({ length: LOADS }, (_, load) => load);
  const found = loads.filter((load) => {
    const { probes, key } = askProbes(userAgent, load);
    return hasWrongAnswers(key, answer(probes, load));
  });
  return (found.length * 100) / LOADS;
}

describe('a browser that answers itself is right in every load', () =>
  test.each<[string, string, Partial<EnvironmentReport>]>([
    ['Chrome', CHROME, {}],
    ['Firefox', FIREFOX, firefox],
    ['a driven Chrome', CHROME, { traits: ['webdriver'] }],
    ['a browser that nobody knows', 'Nobody/1.0', { userAgent: 'Nobody/1.0', traits: ['no-languages'] }],
  ])('%s', (_, userAgent, changes) => {
    expect(foundPercent(userAgent, (probes) => withAnswers(environmentOf(changes), probes))).toBe(0);
  }));

test('a report is found that was not made for its load', () => {
  const constant = environmentOf({ answers: Array.from({ length: 8 }, () => '1a2b3c') });
  const recordedAt = (load: number) => withAnswers(environmentOf(), askProbes(CHROME, LOADS + load).probes);
  return expectRows(
    [
      ['constant', () => constant],
      ['without answers', () => environmentOf()],
      ['recorded', (_: Probes, load: number) => recordedAt(load)],
      ['with too few answers', (probes: Probes) => ({ ...withAnswers(environmentOf(), probes), answers: ['a'] })],
    ] as const,
    ([, answer]) => expect(foundPercent(CHROME, answer)).toBeGreaterThan(95),
  );
});

test('a report is found that was changed on its way, whatever was changed', () => {
  const honest = environmentOf({ traits: ['webdriver', 'debugger'], signs: ['no-bars'] });
  return expectRows<Partial<EnvironmentReport>>(
    [
      { traits: [] },
      { traits: ['debugger'] },
      { signs: [] },
      { userAgent: FIREFOX },
      { hints: null },
      { renderer: null },
    ],
    (changes) => expect(foundPercent(CHROME, (probes) => ({ ...withAnswers(honest, probes), ...changes }))).toBe(100),
  );
});

test('one wrong answer alone is no finding', () => {
  const { probes, key } = askProbes(CHROME, 1);
  const report = withAnswers(environmentOf(), probes);
  const places = key.right.flatMap((right, place) => (typeof right === 'object' && 'answers' in right ? [place] : []));
  const wrongAt = (wrong: readonly number[]) => ({
    ...report,
    answers: report.answers!.map((answer, place) => (wrong.includes(place) ? 'wrong' : answer)),
  });
  expect(places.map((place) => hasWrongAnswers(key, wrongAt([place])))).not.toContain(true);
  expect(hasWrongAnswers(key, wrongAt(places.slice(0, 2)))).toBe(true);
});

test('every load asks in another way', () => {
  const loads = Array.from({ length: LOADS }, (_, load) => JSON.stringify(askProbes(CHROME, load).probes.questions));
  expect(new Set(loads).size).toBe(LOADS);
  expect(Math.max(...loads.map((load) => load.length))).toBeLessThan(4000);
});
