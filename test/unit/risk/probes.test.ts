/** Questions about the engine: who answers them as a browser does is right in every load, and who does not is found. */
import { describe, expect, test } from 'vitest';
import type { EnvironmentReport } from '../../../src/contract/edge/page-reports.ts';
import { answersTo, type Probes, reportText, shortHash } from '../../../src/contract/edge/probes.ts';
import { askProbes, hasWrongAnswers } from '../../../src/risk/probes/ask-probes.ts';
import recordings from '../../../src/risk/probes/recorded-answers.json' with { type: 'json' };
import { recordingsOf } from '../../../src/risk/probes/recorded-answers.ts';
import { recordedQuestions } from '../../../src/risk/probes/recorded-questions.ts';
import { withAnswers } from '../../support/probe-answers.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX, environmentOf } from './session-facts.ts';

const LOADS = 100;
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15';
const firefox: Partial<EnvironmentReport> = {
  engine: 'gecko',
  marks: ['gecko-css', 'gecko-screen'],
  hints: null,
  userAgent: FIREFOX,
};

/** As Node answers them. */
function withoutBrowser(report: EnvironmentReport, probes: Probes): EnvironmentReport {
  const page = { window: {}, navigator: { userAgent: report.userAgent, languages: ['en'] } };
  return { ...report, answers: answersTo(probes, { realm: globalThis, page, report: reportText(report) }) };
}

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

const versions = recordingsOf('chromium').map(({ version }) => version);

describe('a report that an engine of another version or kind answers is found at more than 95 of 100 openings', () => {
  const chrome = (version: number): string => CHROME.replace('153', String(version));
  const answeredBy = (engine: string, claimed: string) => (probes: Probes) =>
    withAnswers(environmentOf({ userAgent: claimed }), probes, engine);

  test.each(versions)('Chromium %i', (version) => {
    const others = versions.filter((other) => other !== version).map(chrome);
    return expectRows([...others, FIREFOX], (other) =>
      expect(foundPercent(other, answeredBy(chrome(version), other))).toBeGreaterThan(95),
    );
  });

  test('and the versions between two recorded ones may answer as either', () =>
    expectRows([132, 136, 149, 151, 160], (claimed) => {
      const before = versions.findLast((version) => version < claimed)!;
      const after = versions.find((version) => version > claimed) ?? before;
      for (const version of [before, after]) {
        expect(foundPercent(chrome(claimed), answeredBy(chrome(version), chrome(claimed)))).toBe(0);
      }
    }));

  test('and engines without a recording are asked what all answer alike', () =>
    expectRows([chrome(115), SAFARI], (claimed) => {
      expect(foundPercent(claimed, answeredBy('WebKit', claimed))).toBe(0);
      expect(foundPercent(claimed, (probes) => withoutBrowser(environmentOf({ userAgent: claimed }), probes))).toBe(
        100,
      );
    }));
});

test('a script that evaluates the questions without a browser is found', () =>
  expect(foundPercent(CHROME, (probes) => withoutBrowser(environmentOf(), probes))).toBe(100));

test('the recorded answers are those of the questions', () => {
  expect(recordings.questions).toBe(shortHash(JSON.stringify(recordedQuestions())));
  const lengths = ['chromium', 'firefox', 'safari'] as const;
  const counts = lengths.flatMap((engine) => recordingsOf(engine).map(({ answers }) => answers.length));
  expect(new Set(counts)).toEqual(new Set([recordedQuestions().length]));
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
  expect(Math.max(...loads.map((load) => load.length))).toBeLessThan(6000);
});
