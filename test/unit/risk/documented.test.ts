/** docs/risk.md prints the table of detectors as the code has it, and the counts of the report set. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isHidden, isStoppedByTask, outcomeOf, outcomes, thresholds } from '../../../lab/risk/outcome.ts';
import { readRecording, recordedKinds } from '../../../lab/risk/recording.ts';
import { circumstances, replay } from '../../../lab/risk/replay.ts';
import type { RiskDetector } from '../../../src/contract/edge/risk-detectors.ts';
import { type Detector, detectors } from '../../../src/risk/detectors.ts';

const page = readFileSync('docs/risk.md', 'utf8');

describe('docs/risk.md prints', () => {
  const table: [string, Detector][] = Object.entries(detectors);

  test('every detector with its weights, what it compares and which legitimate clients may trip it', () => {
    const row = /^\| `([a-z-]+)` +\| (\d[\d.]*|–) +\| (\d[\d.]*|–) +\| (\D.+?) +\| (.+?) +\|$/gm;
    const weight = (text = ''): number | null => (text === '–' ? null : Number(text));
    expect(
      [...page.matchAll(row)].map(([, name, session, captcha, compares, mayTrip]) => ({
        name,
        weights: { session: weight(session), captcha: weight(captcha) },
        compares,
        mayTrip,
      })),
    ).toEqual(table.map(([name, { weights, compares, mayTrip }]) => ({ name, weights, compares, mayTrip })));
  });

  test('the reason for every difference between the two scores', () => {
    const text = page.replaceAll(/\s+/g, ' ');
    for (const reason of new Set(table.flatMap(([, detector]) => detector.reason ?? []))) {
      const names = table.filter(([, detector]) => detector.reason === reason).map(([name]) => `\`${name}\``);
      expect(text).toContain(`- ${names.join(', ')}: ${reason}`);
    }
  });
});

describe('docs/risk.md prints of the report set', () => {
  const recorded = readRecording('report');
  const replayed = replay(recorded);
  const stopped = (scores: readonly number[], threshold: number): number =>
    scores.filter((score) => score >= threshold).length;
  const scoresOf = (isWanted: (kind: string) => boolean): number[] =>
    replayed.filter(({ session }) => isWanted(session.kind)).map(({ score }) => score);

  test('how many sessions of each kind are allowed, challenged and blocked', () => {
    const counted = recordedKinds.map((kind) => {
      const found = scoresOf((other) => other === kind).map(outcomeOf);
      return [kind, found.length, ...outcomes.map((outcome) => found.filter((one) => one === outcome).length)];
    });
    const row = /^\| `([a-z-]+)`[^|]*\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm;
    expect([...page.matchAll(row)].map(([, kind, ...counts]) => [kind, ...counts.map(Number)])).toEqual(counted);
  });

  test('how many automated and person-like sessions each threshold stops', () => {
    const sides = [scoresOf((kind) => kind !== 'person-like'), scoresOf((kind) => kind === 'person-like')];
    const counted = Object.values(thresholds).map((threshold) =>
      sides.flatMap((scores) => [stopped(scores, threshold), scores.length - stopped(scores, threshold)]),
    );
    const row = /^\| (?:work|task|blocked), 0\.\d+ +\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm;
    expect([...page.matchAll(row)].map(([, ...counts]) => counts.map(Number))).toEqual(counted);
  });

  test('how much hidden automation meets a task or is blocked, also without the detectors that weigh most', () => {
    const stoppedWithout = (...ignoredDetectors: RiskDetector[]) => {
      const hidden = replay(recorded, { ignoredDetectors }).filter(isHidden);
      const count = hidden.filter(isStoppedByTask).length;
      return { all: hidden.length, count, percent: Math.round((100 * count) / hidden.length) };
    };
    const text = page.replaceAll(/\s+/g, ' ');
    const { all, count, percent } = stoppedWithout();
    expect(text).toContain(
      `Of ${all} sessions of hidden automation, ${count} (${percent} %) meet a task or are blocked.`,
    );
    expect(text).toContain(`it is ${stoppedWithout('software-rendering').count} as well`);
    const undebugged = stoppedWithout('debugger-attached');
    expect(text).toContain(`Without \`debugger-attached\` it is ${undebugged.count} (${undebugged.percent} %)`);
  });

  test('what the person-like sessions score when they come from elsewhere', () => {
    const persons = recorded.filter(({ kind }) => kind === 'person-like');
    const counted = Object.entries(circumstances).map(([name, around]) => {
      const scores = replay(persons, around).map(({ score }) => score);
      const blocked = stopped(scores, thresholds.blocked);
      return [name, stopped(scores, thresholds.work) - blocked, blocked, Math.max(...scores)];
    });
    const row = /^\| ([\w ,]+?) +\| (\d+) +\| (\d+) +\| (\d\.\d\d) +\|$/gm;
    expect([...page.matchAll(row)].map(([, name, ...counts]) => [name, ...counts.map(Number)])).toEqual(counted);
  });
});
