/** What each event does to a session's state. The transitions are pure and compute the score again each time. */
import { describe, expect, test } from 'vitest';
import { detectorsOf } from '../../../src/contract/edge/risk-detectors.ts';
import {
  NO_LINEAGE,
  crowded,
  isImplausible,
  lineageOf,
  opened,
  renewed,
  reported,
  type SessionState,
} from '../../../src/risk/session-state.ts';
import { expectRows } from '../../support/rows.ts';
import { FIREFOX, environmentOf, reportOf, visitorOf } from './session-facts.ts';

const NOW_MS = 1_800_000_000_000;
const fresh = (
  changes: Parameters<typeof visitorOf>[0] = {},
  idleSessions = 0,
  touchedSessions = 0,
  found: Parameters<typeof environmentOf>[0] | null = {},
): SessionState => {
  const cycling = { idleSessions, touchedSessions, threshold: 5 };
  return opened(
    visitorOf(changes),
    { nowMs: NOW_MS, expiresAt: NOW_MS + 86_400_000 },
    cycling,
    NO_LINEAGE,
    found && environmentOf(found),
  );
};
const names = (state: SessionState) => detectorsOf(state.detectors);

describe('a session', () => {
  test('opens with its first score in its history', () => {
    expect(fresh().history).toEqual([{ at: NOW_MS, score: 0, detectors: 0, ignored: 0, cause: 'opened' }]);
    const curl = fresh({ userAgent: 'curl/8.5.0', headers: null }, 0, 0, null);
    expect(curl).toMatchObject({ score: 0.5, history: [{ score: 0.5, cause: 'opened' }] });
  });

  test('opens with what its page found out about the browser', () => {
    const driven = fresh({}, 0, 0, { traits: ['webdriver'] });
    expect(names(driven)).toEqual(['webdriver']);
    expect(names(reported(driven, reportOf(), NOW_MS + 4000))).toEqual(['webdriver']);
  });

  test('is suspicious when its network has opened the threshold of idle sessions', () => {
    expect(names(fresh({}, 4))).toEqual([]);
    expect(names(fresh({}, 5))).toEqual(['cookie-cycling']);
    expect(names(fresh({}, 40, 40))).toEqual([]);
    expect(names(fresh({}, 41, 40))).toEqual(['cookie-cycling']);
  });

  test('keeps the highest counts of its pages, and every trait', () => {
    const one = reported(fresh(), reportOf({ pointerMoves: 60, traits: ['webdriver'] }), NOW_MS + 4000);
    const two = reported(one, reportOf({ pointerMoves: 10, keys: 7, traits: ['zero-window'] }), NOW_MS + 8000);
    expect(two.telemetry).toMatchObject({
      reports: 2,
      pointerMoves: 60,
      keys: 7,
      traits: ['webdriver', 'zero-window'],
    });
    expect(two.history.map(({ score, cause }) => [score, cause])).toEqual([
      [0, 'opened'],
      [0.5, 'telemetry'],
      [0.8, 'telemetry'],
    ]);
  });

  test('keeps the typing of the page with the most typing', () => {
    const typed = { keys: 40, keyGaps: 30, keyGapMeanMs: 150, keyGapDeviationMs: 60 };
    const one = reported(fresh(), reportOf(typed), NOW_MS + 4000);
    expect(one.telemetry.typing).toEqual({ gaps: 30, meanMs: 150, deviationMs: 60 });
    expect(reported(one, reportOf({ keys: 2, keyGaps: 1 }), NOW_MS + 8000).telemetry.typing.gaps).toBe(30);
  });

  test('loses no-interaction when a later report has input', () => {
    const nothing = { firstInteractionMs: null, pointerMoves: 0, presses: 0, scrolls: 0, visibleMs: 30_000 };
    const idle = reported(fresh(), reportOf({ ...nothing, elapsedMs: 30_000 }), NOW_MS + 30_000);
    expect(names(idle)).toEqual(['no-interaction']);
    expect(names(reported(idle, reportOf({ elapsedMs: 60_000 }), NOW_MS + 60_000))).toEqual([]);
  });

  test('fires telemetry-absent when it is renewed without a report', () => {
    expect(names(renewed(fresh(), visitorOf(), NOW_MS + 60_000))).toEqual([]);
    expect(names(renewed(fresh(), visitorOf(), NOW_MS + 180_000))).toEqual(['telemetry-absent']);
  });

  test('keeps its newest addresses and every category', () => {
    let state = fresh({ categories: ['vpn'] });
    for (let host = 1; host <= 20; host++) state = renewed(state, visitorOf({ ip: `192.0.2.${host}` }), NOW_MS + host);
    expect(state.addresses).toHaveLength(8);
    expect(state.addresses.at(-1)).toBe('192.0.2.20');
    expect(state.categories).toEqual(['vpn']);
  });

  test('counts a burst within a minute, and keeps it', () => {
    let state = fresh();
    for (let batch = 0; batch < 3; batch++) state = crowded(state, 100, NOW_MS + batch * 1000);
    expect(names(state)).toEqual(['burst']);
    expect(names(crowded(state, 10, NOW_MS + 3_600_000))).toContain('burst');
    expect(names(crowded(crowded(fresh(), 200, NOW_MS), 200, NOW_MS + 61_000))).toEqual([]);
  });

  test('is scored by what its instance ignores at each event, and its history says so', () => {
    const driven = reported(fresh(), reportOf({ traits: ['webdriver'] }), NOW_MS + 4000);
    expect(driven.score).toBe(0.5);
    const eased = renewed({ ...driven, ignoredDetectors: ['webdriver'] }, visitorOf(), NOW_MS + 60_000);
    expect(eased.score).toBe(0);
    expect(eased.history.map(({ score, ignored }) => [score, detectorsOf(ignored)])).toEqual([
      [0, []],
      [0.5, []],
      [0, ['webdriver']],
    ]);
    expect(renewed({ ...eased, ignoredDetectors: [] }, visitorOf(), NOW_MS + 120_000).score).toBe(0.5);
  });

  test('takes nothing over from a report that claims more time than it has lived, but the traits', () => {
    const claimed = reportOf({ elapsedMs: 45_000, visibleMs: 45_000, traits: ['webdriver'] });
    const state = reported(fresh(), claimed, NOW_MS + 100);
    expect(state.telemetry).toMatchObject({
      reports: 1,
      implausible: 1,
      visibleMs: 0,
      interacted: false,
      touched: false,
    });
    expect(names(state)).toEqual(['webdriver', 'implausible-telemetry']);
    const later = reported(state, reportOf(), NOW_MS + 10_000);
    expect(later.telemetry).toMatchObject({ interacted: true, touched: true, implausible: 1 });
  });

  test('is touched by input that it has lived long enough for', () => {
    const quick = reported(fresh(), reportOf({ elapsedMs: 2000, visibleMs: 2000 }), NOW_MS + 2000);
    expect(quick.telemetry).toMatchObject({ interacted: true, touched: false });
    expect(reported(quick, reportOf(), NOW_MS + 4000).telemetry.touched).toBe(true);
  });

  test('passes its changes of network and user agent on to the next session', () => {
    const moved = visitorOf({ network: '198.51.100.0/24' });
    expect(lineageOf(fresh(), moved)).toEqual({ addressChanges: 1, userAgentChanges: 0 });
    expect(lineageOf({ ...fresh(), addressChanges: 2 }, moved)).toEqual({ addressChanges: 3, userAgentChanges: 0 });
    expect(lineageOf(fresh(), visitorOf({ userAgent: FIREFOX }))).toEqual({ addressChanges: 0, userAgentChanges: 1 });
  });

  test('has a bounded history and bounded texts', () => {
    let state = fresh({ userAgent: 'x'.repeat(16_384) });
    expect(state.userAgent).toHaveLength(512);
    for (let event = 0; event < 200; event++) {
      const touched = event % 2 === 0 ? { firstInteractionMs: null } : {};
      state = reported({ ...state, telemetry: fresh().telemetry }, reportOf({ ...touched }), NOW_MS + 5000 + event);
    }
    expect(state.history).toHaveLength(50);
  });
});

test('a report that a page can have made is plausible', () =>
  expectRows(
    [
      ['an ordinary report', {}],
      ['no input yet', { firstInteractionMs: null, pointerMoves: 0, presses: 0, keys: 0 }],
      ['scrolling by the page itself', { firstInteractionMs: null, pointerMoves: 0, presses: 0, scrolls: 90 }],
      ['a fast hand on a fast screen', { pointerMoves: 900 }],
      ['only turns of the wheel', { pointerMoves: 0, presses: 0, wheels: 9 }],
      ['a clock that differs by two seconds', { elapsedMs: 6000 }],
      ['taps of a finger', { pointerMoves: 0, presses: 3, touches: 3 }],
    ],
    ([, changes]) => {
      expect(isImplausible(reportOf(changes), 4000)).toBe(false);
    },
  ));

test('a report that no page can have made is implausible', () =>
  expectRows(
    [
      ['visible for longer than open', { visibleMs: 4001 }],
      ['open for longer than its session', { elapsedMs: 6001 }],
      ['an hour at once', { elapsedMs: 3_600_000, visibleMs: 3_600_000 }],
      ['more touches than presses', { touches: 2 }],
      ['more pauses between keys than keys', { keys: 2, keyGaps: 3 }],
      ['input later than the report', { firstInteractionMs: 5000 }],
      ['moves without a first input', { firstInteractionMs: null }],
      ['a first input without any input', { pointerMoves: 0, presses: 0 }],
      ['a thousand moves a second', { pointerMoves: 4000 }],
      ['a hundred keys a second', { keys: 400 }],
      ['everything at once', { elapsedMs: 0, firstInteractionMs: 0, pointerMoves: 5000 }],
    ],
    ([, changes]) => {
      expect(isImplausible(reportOf(changes), 4000)).toBe(true);
    },
  ));
