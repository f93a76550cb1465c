/** Evidence that no hand is at work: it counts only where most actions were a program's, and adds up over reports. */
import { expect, test } from 'vitest';
import type { HandCounts } from '../../../src/contract/edge/page-reports.ts';
import { detectorsOf } from '../../../src/contract/edge/risk-detectors.ts';
import { handlessActions } from '../../../src/risk/hands.ts';
import { isImplausible, NO_LINEAGE, opened, reported, type SessionState } from '../../../src/risk/session-state.ts';
import { expectRows } from '../../support/rows.ts';
import { environmentOf, reportOf, visitorOf } from './session-facts.ts';

const NOW_MS = 1_800_000_000_000;
const none: HandCounts = { presses: 0, centred: 0, strokes: 0, straight: 0, entries: 0, keyless: 0 };

function after(...reports: (Partial<HandCounts> | undefined)[]): SessionState {
  const cycling = { idleSessions: 0, touchedSessions: 0, threshold: 5 };
  const times = { nowMs: NOW_MS, expiresAt: NOW_MS + 86_400_000 };
  const session = opened(visitorOf(), times, cycling, NO_LINEAGE, environmentOf());
  return reports.reduce<SessionState>((state, hands, at) => {
    const report = { ...reportOf({ presses: 40 }), ...(hands && { hands: { ...none, ...hands } }) };
    return reported(state, report, NOW_MS + 5000 * (at + 1));
  }, session);
}
const firedAfter = (...reports: (Partial<HandCounts> | undefined)[]) => detectorsOf(after(...reports).detectors);

test('counts a kind of action only where most of them were a program’s', () =>
  expectRows<[string, Partial<HandCounts>, number]>(
    [
      ['centres', { presses: 4, centred: 3 }, 3],
      ['a centre that was hit by chance', { presses: 8, centred: 1 }, 0],
      ['half of the presses', { presses: 4, centred: 2 }, 0],
      ['lines', { strokes: 3, straight: 3 }, 3],
      ['fields that filled at once', { entries: 3, keyless: 2 }, 2],
      ['one field that was dictated', { entries: 4, keyless: 1 }, 0],
    ],
    ([, counts, actions]) => expect(handlessActions({ ...none, ...counts })).toBe(actions),
  ));

test('adds up over reports, so that one page decides nothing', () => {
  const driven = { presses: 10, centred: 10, strokes: 4, straight: 4 };
  expect(firedAfter({ presses: 2, centred: 2 })).toEqual([]);
  expect(firedAfter({ presses: 2, centred: 2 }, { presses: 2, centred: 2 })).toEqual(['no-hands']);
  expect(firedAfter(driven)).toEqual(['no-hands']);
  expect(after(driven).score).toBe(0.1);
  expect(firedAfter(driven, driven)).toEqual(['suspected-agent', 'no-hands', 'no-hands-throughout']);
  expect(after(driven, driven).score).toBe(0.3);
});

test('ends to count when a hand takes over', () => {
  const driven = { presses: 4, centred: 4 };
  expect(firedAfter(driven, driven, { presses: 20, centred: 1 })).toEqual([]);
});

test('judges no session whose pages do not report hands', () => {
  expect(firedAfter(undefined, undefined)).toEqual([]);
  expect(after(undefined).telemetry.hands).toBeUndefined();
});

test('counts that contradict each other are made up', () =>
  expectRows<[string, Partial<HandCounts>]>(
    [
      ['more centres than presses', { presses: 1, centred: 2 }],
      ['more lines than movements', { strokes: 1, straight: 2 }],
      ['more filled fields than fields', { keyless: 1 }],
    ],
    ([, hands]) => expect(isImplausible(reportOf({ presses: 40, hands: { ...none, ...hands } }), 60_000)).toBe(true),
  ));
