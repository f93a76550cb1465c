/** docs/risk.md prints the table of detectors as the code has it, and the counts of the report set. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordedKinds, recording, replay } from '../../../lab/risk/replay.ts';
import { instancePolicy } from '../../../src/contract/management/instance.ts';
import { detectors } from '../../../src/risk/detectors.ts';
import type { Detector } from '../../../src/risk/detectors.ts';

const page = readFileSync('docs/risk.md', 'utf8');
const rows: [string, Detector][] = Object.entries(detectors);

test('docs/risk.md prints every detector with its weights, what it compares and whom it may wrong', () => {
  const row = /^\| `([a-z-]+)` +\| (\d[\d.]*|–) +\| (\d[\d.]*|–) +\| (\D.+?) +\| (.+?) +\|$/gm;
  const weight = (text = ''): number | null => (text === '–' ? null : Number(text));
  expect(
    [...page.matchAll(row)].map(([, name, session, captcha, compares, mayTrip]) => ({
      name,
      weights: { session: weight(session), captcha: weight(captcha) },
      compares,
      mayTrip,
    })),
  ).toEqual(rows.map(([name, { weights, compares, mayTrip }]) => ({ name, weights, compares, mayTrip })));
});

test('docs/risk.md gives the reason for every difference between the two scores', () => {
  const text = page.replaceAll(/\s+/g, ' ');
  for (const reason of new Set(rows.flatMap(([, detector]) => detector.reason ?? []))) {
    const names = rows.filter(([, detector]) => detector.reason === reason).map(([name]) => `\`${name}\``);
    expect(text).toContain(`- ${names.join(', ')}: ${reason}`);
  }
});

test('docs/risk.md prints the counts of the report set', () => {
  const replayed = replay(recording.parse(JSON.parse(readFileSync('test/fixtures/risk/report.json', 'utf8'))));
  const { challengeThreshold, blockThreshold } = instancePolicy.parse({});
  const counted = recordedKinds.map((kind) => {
    const scores = replayed.filter(({ session }) => session.kind === kind).map(({ score }) => score);
    const stopped = scores.filter((score) => score >= challengeThreshold).length;
    const blocked = scores.filter((score) => score >= blockThreshold).length;
    return [kind, scores.length, scores.length - stopped, stopped - blocked, blocked];
  });
  const row = /^\| `([a-z-]+)`[^|]*\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm;
  const documented = [...page.matchAll(row)];
  expect(documented.map(([, kind, ...counts]) => [kind, ...counts.map(Number)])).toEqual(counted);
});
