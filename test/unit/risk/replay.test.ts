/**
 * The recorded sessions through the detectors: what is claimed of them in docs/risk.md. How well the rest is told apart is
 * the bench's to say (`npm run bench -- risk`).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { circumstances, recordedKinds, recording, replay } from '../../../lab/risk/replay.ts';

const recorded = (set: 'tune' | 'report') =>
  recording.parse(JSON.parse(readFileSync(`test/fixtures/risk/${set}.json`, 'utf8')));

describe.each(['tune', 'report'] as const)('the %s set', (set) => {
  const replayed = replay(recorded(set));

  test('holds several sessions of each kind', () => {
    for (const kind of recordedKinds) {
      expect(replayed.filter(({ session }) => session.kind === kind).length, kind).toBeGreaterThanOrEqual(2);
    }
  });

  test('challenges every headless browser, every driven window that does not hide it, and tools that say what they are', () => {
    const tools = ['as it is', 'fetch as it is', 'library’s own name'];
    const open = replayed.filter(
      ({ session }) => ['headless', 'window'].includes(session.kind) || tools.includes(session.variant),
    );
    expect(open.filter(({ score }) => score < 0.5).map(({ session }) => session.variant)).toEqual([]);
  });

  test('leaves whoever works a window by hand in peace', () => {
    const persons = replayed.filter(({ session }) => session.kind === 'person-like');
    expect(persons.filter(({ score }) => score >= 0.5).map(({ detectors }) => detectors)).toEqual([]);
  });
});

test.each(Object.entries(circumstances))('blocks nobody who works a window by hand %s', (_, around) => {
  const persons = [...recorded('tune'), ...recorded('report')].filter(({ kind }) => kind === 'person-like');
  expect(replay(persons, around).filter(({ score }) => score >= 0.85)).toEqual([]);
});

test('nothing that was tuned on is reported', () => {
  const tuned = new Set(recorded('tune').map(({ kind, variant }) => `${kind} ${variant}`));
  const shared = recorded('report').filter(({ kind, variant }) => tuned.has(`${kind} ${variant}`));
  expect(shared.map(({ variant }) => variant)).toEqual([]);
});

test('no session of one set is in the other', () => {
  const texts = new Set(recorded('tune').map((session) => JSON.stringify(session.events)));
  const shared = recorded('report').filter(({ events }) => texts.has(JSON.stringify(events)));
  expect(shared.map(({ variant }) => variant)).toEqual([]);
});
