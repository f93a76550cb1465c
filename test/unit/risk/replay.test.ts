/**
 * The recorded sessions through the detectors: what is claimed of them in docs/risk.md. How well the rest is told apart is
 * the bench's to say (`npm run bench -- risk`).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recording, replay } from '../../../bench/risk-replay.ts';

const recorded = (set: 'tune' | 'report') =>
  recording.parse(JSON.parse(readFileSync(`test/fixtures/risk/${set}.json`, 'utf8')));

describe.each(['tune', 'report'] as const)('the %s set', (set) => {
  const replayed = replay(recorded(set));

  test('holds several sessions of each kind that one machine without a display can record', () => {
    for (const kind of ['headless', 'stealth', 'curl', 'script', 'person-like']) {
      expect(replayed.filter(({ session }) => session.kind === kind).length, kind).toBeGreaterThanOrEqual(2);
    }
  });

  test('challenges every headless browser and every tool that says what it is', () => {
    const tools = ['as it is', 'fetch as it is', 'library’s own name'];
    const open = replayed.filter(({ session }) => session.kind === 'headless' || tools.includes(session.variant));
    expect(open.filter(({ score }) => score < 0.5).map(({ session }) => session.variant)).toEqual([]);
  });

  test('leaves a furnished browser in peace', () => {
    const furnished = replayed.filter(({ session }) => session.kind === 'person-like');
    expect(furnished.filter(({ score }) => score >= 0.5).map(({ detectors }) => detectors)).toEqual([]);
  });
});

test('no session of one set is in the other', () => {
  const texts = new Set(recorded('tune').map((session) => JSON.stringify(session.events)));
  const shared = recorded('report').filter(({ events }) => texts.has(JSON.stringify(events)));
  expect(shared.map(({ variant }) => variant)).toEqual([]);
});
