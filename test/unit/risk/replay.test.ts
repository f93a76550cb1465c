/**
 * The recorded sessions, replayed through the detectors: what docs/risk.md claims about them. `npm run bench -- risk`
 * shows how well the other kinds are told apart.
 */
import { describe, expect, test } from 'vitest';
import { isHidden, isStoppedByTask } from '../../../lab/risk/outcome.ts';
import { readRecording, recordedKinds } from '../../../lab/risk/recording.ts';
import { circumstances, replay } from '../../../lab/risk/replay.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { expectRows } from '../../support/rows.ts';

const { challengeThreshold, blockThreshold } = instancePolicy.parse({});

describe.each(['tune', 'report'] as const)('the %s set', (set) => {
  const replayed = replay(readRecording(set));

  test('holds several sessions of each kind', () => {
    for (const kind of recordedKinds) {
      expect(replayed.filter(({ session }) => session.kind === kind).length, kind).toBeGreaterThanOrEqual(2);
    }
  });

  test('challenges headless browsers, driven windows that do not hide it, and tools that name themselves', () => {
    const honestTools = ['unchanged', 'fetch, unchanged', 'library’s own user agent'];
    const unhidden = replayed.filter(
      ({ session }) => ['headless', 'window'].includes(session.kind) || honestTools.includes(session.variant),
    );
    expect(unhidden.length).toBeGreaterThan(10);
    expect(unhidden.filter(({ score }) => score < challengeThreshold).map(({ session }) => session.variant)).toEqual(
      [],
    );
  });

  test('asks at least seven of ten sessions of hidden automation for more than work, or blocks them', () => {
    const hidden = replayed.filter(isHidden);
    expect(hidden.length).toBeGreaterThan(20);
    expect(hidden.filter(isStoppedByTask).length / hidden.length).toBeGreaterThanOrEqual(0.7);
  });

  test('challenges what hides by the stealth plugin or by the automation flag', () => {
    const hidden = replayed.filter((one) => isHidden(one) && /stealth plugin|flag off/.test(one.session.variant));
    expect(hidden.length).toBeGreaterThanOrEqual(8);
    expect(hidden.filter(({ score }) => score < challengeThreshold).map(({ session }) => session.variant)).toEqual([]);
  });

  test('challenges no person-like session', () => {
    const persons = replayed.filter(({ session }) => session.kind === 'person-like');
    expect(persons.filter(({ score }) => score >= challengeThreshold).map(({ detectors }) => detectors)).toEqual([]);
  });
});

test('no person-like session is blocked, wherever it comes from', () =>
  expectRows(Object.entries(circumstances), ([, around]) => {
    const persons = [...readRecording('tune'), ...readRecording('report')].filter(({ kind }) => kind === 'person-like');
    expect(replay(persons, around).filter(({ score }) => score >= blockThreshold)).toEqual([]);
  }));

test('the two sets share no variant of a kind', () => {
  const tuned = new Set(readRecording('tune').map(({ kind, variant }) => `${kind} ${variant}`));
  const shared = readRecording('report').filter(({ kind, variant }) => tuned.has(`${kind} ${variant}`));
  expect(shared.map(({ variant }) => variant)).toEqual([]);
});

test('at least 40 sessions of the report set are person-like', () => {
  expect(readRecording('report').filter(({ kind }) => kind === 'person-like').length).toBeGreaterThanOrEqual(40);
});

test('the two sets share no session', () => {
  const texts = new Set(readRecording('tune').map((session) => JSON.stringify(session.events)));
  const shared = readRecording('report').filter(({ events }) => texts.has(JSON.stringify(events)));
  expect(shared.map(({ variant }) => variant)).toEqual([]);
});
