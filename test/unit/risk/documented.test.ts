/** docs/risk.md tells every detector with the weight that it has, and what the bench counts in the report set. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recordedKinds, recording, replay } from '../../../bench/risk-replay.ts';
import { instancePolicy } from '../../../src/contract/management/instance.ts';
import { detectors } from '../../../src/risk/detectors.ts';

test('the documented table is the table', () => {
  const rows = [...readFileSync('docs/risk.md', 'utf8').matchAll(/^\| `([a-z-]+)`\s*\| (0\.\d+)\s*\| (.+?)\s*\|$/gm)];
  expect(rows.map(([, name, weight, why]) => ({ name, weight: Number(weight), why }))).toEqual(
    detectors.map(({ name, weight, why }) => ({ name, weight, why })),
  );
});

test('the documented matrix is what the report set counts', () => {
  const replayed = replay(recording.parse(JSON.parse(readFileSync('test/fixtures/risk/report.json', 'utf8'))));
  const { challengeThreshold, blockThreshold } = instancePolicy.parse({});
  const counted = recordedKinds.map((kind) => {
    const scores = replayed.filter(({ session }) => session.kind === kind).map(({ score }) => score);
    const stopped = scores.filter((score) => score >= challengeThreshold).length;
    const blocked = scores.filter((score) => score >= blockThreshold).length;
    return [kind, scores.length, scores.length - stopped, stopped - blocked, blocked];
  });
  const row = /^\| `([a-z-]+)`[^|]*\| (\d+) +\| (\d+) +\| (\d+) +\| (\d+) +\|$/gm;
  const documented = [...readFileSync('docs/risk.md', 'utf8').matchAll(row)];
  expect(documented.map(([, kind, ...counts]) => [kind, ...counts.map(Number)])).toEqual(counted);
});
