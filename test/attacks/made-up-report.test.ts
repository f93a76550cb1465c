/**
 * Sessions that a script opens without a browser engine: with one report for all, with a report that a browser answered
 * for another load, with a browser's report whose traits were removed on its way, or with answers that are missing. All
 * do the work. None may look like a browser that answered itself.
 */
import { expect, test } from 'vitest';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { sessionAt } from '../support/edge-session.ts';
import { withAnswers } from '../support/probe-answers.ts';
import { PERSONS_BROWSER, personsHeaders, solveWork } from '../support/session.ts';
import { manage, useStack } from '../support/stack.ts';

type Probes = SessionChallenge['probes'];
interface History {
  scores: { parts: { detector: string }[] }[];
}

const stack = useStack({ seedChanges: {} });
let networks = 0;

/** The detectors of a session that was opened with this report. */
async function detectorsOf(report: (probes: Probes) => EnvironmentReport): Promise<string[]> {
  const headers = { ...personsHeaders, ...signalsOf(stack(), { from: `10.9.${networks++}.1`, country: 'DE' }) };
  const post = sessionAt(stack().edgeUrl, headers);
  const { challenge, pow, probes } = (await post({})).body as SessionChallenge;
  const opened = await post({ challenge, solution: await solveWork(pow), environment: report(probes) });
  expect(opened.status).toBe(200);
  const { jti } = opened.body as { jti: string };
  const { scores } = await manage<History>(stack(), '/protect/risk-history', { jti });
  return scores.at(-1)!.parts.map((part) => part.detector);
}

test('a browser that answers what it was asked is not found', async () => {
  expect(await detectorsOf((probes) => withAnswers(PERSONS_BROWSER, probes))).not.toContain('wrong-answers');
});

test.each<[string, (probes: Probes) => EnvironmentReport]>([
  ['without answers', () => PERSONS_BROWSER],
  [
    'with the same answers at every load',
    () => ({ ...PERSONS_BROWSER, answers: ['1', '2', '3', '4', '5', '6', '7', '8'] }),
  ],
  [
    'whose traits were removed on the way',
    (probes) => ({ ...withAnswers({ ...PERSONS_BROWSER, traits: ['webdriver', 'debugger'] }, probes), traits: [] }),
  ],
])('a report %s is found', async (_, report) => {
  expect(await detectorsOf(report)).toContain('wrong-answers');
});

test('a report that a browser answered for another load is found', async () => {
  let recorded: EnvironmentReport | undefined;
  await detectorsOf((probes) => (recorded = withAnswers(PERSONS_BROWSER, probes)));
  expect(await detectorsOf(() => recorded!)).toContain('wrong-answers');
});
