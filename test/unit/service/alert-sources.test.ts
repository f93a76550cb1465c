/** When the sources of alerts see something, from what edges counted and from the ends of keys. */
import { describe, expect, test } from 'vitest';
import { countedWindow } from '../../../src/service/alerts/counted-window.ts';
import { expiryWarning } from '../../../src/alerts/alert-times.ts';
import { stateSources, type InstanceView } from '../../../src/service/alerts/sources.ts';
import { expectRows } from '../../support/rows.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const counters = (good: number, bad: number, unanswered: number) => ({
  'origin_responses{class="2xx"}': good,
  'origin_responses{class="5xx"}': bad,
  origin_failures: unanswered,
  'requests{decision="allow"}': good + bad + unanswered,
  'requests{decision="block"}': 5,
});
const quiet = {
  rules: 0,
  rulesMax: 1_250_000,
  lists: [],
  rooms: [{ unsealed: 0, unsealedMax: 320_000, databaseBytes: 0 }],
  isOn: () => false,
} as unknown as InstanceView;

describe('a window over what edges counted', () => {
  test('needs something to compare with', () => {
    expect(countedWindow(counters(100, 0, 0), 3, null, 0)).toMatchObject({ origins: null, losses: null });
    expect(countedWindow(counters(100, 0, 0), 3, 'damaged', 0)).toMatchObject({ origins: null, losses: null });
    const { remember } = countedWindow(counters(100, 0, 0), 0, null, 0);
    // The log was rebuilt.
    expect(countedWindow(counters(10, 0, 0), 0, remember, 1)).toMatchObject({ origins: null, losses: null });
  });

  test('has errors and missing answers of the origin', () => {
    const { remember } = countedWindow(counters(100, 10, 1), 0, null, 0);
    const { origins } = countedWindow(counters(120, 15, 6), 0, remember, MINUTE_MS);
    expect(origins).toEqual([{ name: '', responses: 30, errors: 10, isWhole: true }]);
  });

  test('has each named origin by itself, and the rest as the one of the environment', () => {
    const named = (name: string, [requests, failures, errors]: readonly [number, number, number]) => ({
      [`named_origin_requests{origin="${name}"}`]: requests,
      [`named_origin_failures{origin="${name}"}`]: failures,
      [`named_origin_errors{origin="${name}"}`]: errors,
    });
    const first = { ...counters(100, 0, 0), ...named('api', [10, 0, 0]) };
    const { remember } = countedWindow(first, 0, null, 0);
    // Of 100 further requests 40 went to `api`, and 25 of them failed; the last one has not been seen before.
    const second = { ...counters(172, 15, 13), ...named('api', [50, 12, 13]), ...named('constructor', [5, 1, 2]) };
    expect(countedWindow(second, 0, remember, MINUTE_MS).origins).toEqual([
      { name: '', responses: 55, errors: 0, isWhole: true },
      { name: 'api', responses: 40, errors: 25, isWhole: true },
      { name: 'constructor', responses: 5, errors: 3, isWhole: false },
    ]);
  });

  test('has nothing below zero where named origins were counted before the verdicts came', () => {
    const { remember } = countedWindow(counters(100, 0, 0), 0, null, 0);
    const ahead = { ...counters(110, 0, 0), 'named_origin_requests{origin="api"}': 60 };
    expect(countedWindow(ahead, 0, remember, MINUTE_MS).origins?.[0]).toMatchObject({ responses: 0, errors: 0 });
  });

  test('ignores names that no origin has, and more of them than an instance has', () => {
    const strange = Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [`named_origin_requests{origin="n${index}"}`, 1]),
    );
    const { remember } = countedWindow({ 'named_origin_requests{origin="__proto__"}': 1, ...strange }, 0, null, 0);
    expect(Object.keys((JSON.parse(remember) as { origins: object }).origins)).toHaveLength(101);
    expect(remember).not.toContain('__proto__');
  });

  test('grows on a quiet site until it has enough responses, for half an hour at most', () => {
    let { remember } = countedWindow(counters(0, 0, 0), 0, null, 0);
    for (let minute = 1; minute < 10; minute++) {
      const window = countedWindow(counters(0, 0, 2 * minute), 0, remember, minute * MINUTE_MS);
      expect(window.origins?.[0]?.isWhole).toBe(false);
      ({ remember } = window);
    }
    expect(countedWindow(counters(0, 0, 20), 0, remember, 10 * MINUTE_MS).origins).toEqual([
      { name: '', responses: 20, errors: 20, isWhole: true },
    ]);
    expect(countedWindow(counters(0, 0, 19), 0, remember, 30 * MINUTE_MS).origins).toEqual([
      { name: '', responses: 19, errors: 19, isWhole: true },
    ]);
  });

  test('of fewer than five responses grows for a day, and is then not judged', () => {
    let { remember } = countedWindow(counters(0, 0, 0), 0, null, 0);
    for (const hour of [1, 12]) {
      const window = countedWindow(counters(0, hour / 12, 0), 0, remember, hour * 60 * MINUTE_MS);
      expect(window.origins?.[0]?.isWhole).toBe(false);
      ({ remember } = window);
    }
    const few = countedWindow(counters(0, 5, 0), 0, remember, 13 * 60 * MINUTE_MS);
    expect(few.origins).toMatchObject([{ responses: 5, isWhole: true }]);
    const none = countedWindow(counters(0, 4, 0), 0, remember, 24 * 60 * MINUTE_MS);
    expect(none.origins).toEqual([]);
    expect(countedWindow(counters(0, 24, 0), 0, none.remember, 25 * 60 * MINUTE_MS).origins).toMatchObject([
      { responses: 20, isWhole: true },
    ]);
  });

  test('counts a verdict as lost when it is missing at two checks', () => {
    const first = countedWindow(counters(0, 0, 0), 0, null, 0);
    const late = countedWindow(counters(1000, 0, 0), 50, first.remember, MINUTE_MS);
    expect(late.losses).toEqual({ lost: 0, requests: 1000 });
    const arrived = countedWindow(counters(1050, 0, 0), 0, late.remember, 2 * MINUTE_MS);
    expect(arrived.losses?.lost).toBe(0);
    const gone = countedWindow(counters(1050, 0, 0), 50, late.remember, 2 * MINUTE_MS);
    expect(gone.losses).toEqual({ lost: 50, requests: 50 });
    // Once.
    expect(countedWindow(counters(1050, 0, 0), 50, gone.remember, 3 * MINUTE_MS).losses?.lost).toBe(0);
  });
});

describe('an origin fails', () => {
  const window = { name: 'api', isWhole: true };
  const sees = (responses: number, errors: number, isOn = false, isWhole = true) =>
    stateSources['origin-failing'].see({
      ...quiet,
      origins: [{ ...window, responses, errors, isWhole }],
      isOn: () => isOn,
    })?.length;

  test('with enough errors among enough responses, and not before', () =>
    expectRows(
      [
        [1000, 199, 0],
        [1000, 200, 1],
        [20, 9, 0],
        [20, 10, 1],
        [0, 0, 0],
      ],
      ([responses, errors, seen]) => {
        expect(sees(responses, errors)).toBe(seen);
      },
    ));

  test('until it is nearly well again', () => {
    expect(sees(1000, 60, true)).toBe(1);
    expect(sees(1000, 49, true)).toBe(0);
    expect(stateSources['origin-failing'].see({ ...quiet, origins: null })).toBeNull();
  });

  test('and not over before it has responded to somebody', () => {
    expect([sees(0, 0, true), sees(4, 0, true), sees(5, 0, true)]).toEqual([1, 1, 0]);
  });

  test('or not, as before, while it has too few responses', () => {
    expect([sees(5, 5, false, false), sees(5, 0, true, false)]).toEqual([0, 1]);
  });

  test('while others do not, and is named', () => {
    const own = { name: '', responses: 100, errors: 0, isWhole: true };
    const seen = stateSources['origin-failing'].see({
      ...quiet,
      origins: [own, { ...window, responses: 40, errors: 20 }],
    });
    expect(seen).toEqual([{ subject: 'api', facts: { origin: 'api', failed: 20, requests: 40, share: 0.5 } }]);
  });
});

test('a few lost verdicts of an isolate that was stopped are no alert', () => {
  const sees = (lost: number, requests: number) =>
    stateSources['verdicts-lost'].see({ ...quiet, losses: { lost, requests } })?.length;
  expect([sees(9, 100), sees(10, 100), sees(50, 100_000), sees(100, 100_000)]).toEqual([0, 1, 0, 1]);
});

test.each([
  ['access-rules', { rules: 1_000_000 }],
  ['unsealed-verdicts', { rooms: [...quiet.rooms, { unsealed: 260_000, unsealedMax: 320_000, databaseBytes: 0 }] }],
  ['log-storage', { rooms: [...quiet.rooms, { unsealed: 0, unsealedMax: 320_000, databaseBytes: 8e9 }] }],
])('%s near their bound are seen, and seen on until there is clearly room', (subject, change) => {
  expect(stateSources['storage-filling'].see(quiet)).toEqual([]);
  const view = { ...quiet, ...change };
  expect(stateSources['storage-filling'].see(view)).toMatchObject([{ subject, facts: { what: subject } }]);
  const isOn = (one: string): boolean => one === subject;
  expect(stateSources['storage-filling'].see({ ...quiet, rules: 900_000, isOn })).toHaveLength(
    subject === 'access-rules' ? 1 : 0,
  );
});

describe('the end of a key', () => {
  const key = { issuedAt: 0, expiresAt: 30 * DAY_MS };

  test('is announced twice: a week and a day ahead', () => {
    const moments = [1, 22, 23.5, 28, 29.5, 31].map((day) => expiryWarning(key, 7, day * DAY_MS)?.moment ?? null);
    expect(moments).toEqual([null, null, `7d ${30 * DAY_MS}`, `7d ${30 * DAY_MS}`, `1d ${30 * DAY_MS}`, null]);
  });

  test('is not announced a week ahead when the key was made for ten days, and never when for an hour', () => {
    const short = { issuedAt: 0, expiresAt: 10 * DAY_MS };
    expect(expiryWarning(short, 7, 5 * DAY_MS)).toBeNull();
    expect(expiryWarning(short, 7, 9.5 * DAY_MS)?.moment).toBe(`1d ${10 * DAY_MS}`);
    expect(expiryWarning({ issuedAt: 0, expiresAt: 3_600_000 }, 7, 1000)).toBeNull();
  });
});

describe('a list', () => {
  const HOUR_MS = 60 * MINUTE_MS;
  const good = {
    name: 'bad',
    settings: { intervalMinutes: 60 },
    createdAt: 0,
    confirmedAt: 0,
    dueAt: HOUR_MS,
    failures: 0,
    error: null,
    isExpired: false,
  };
  const seen = (state: object, nowMs: number) =>
    (
      stateSources['list-stale'].see({ ...quiet, lists: [{ ...good, ...state }], nowMs } as unknown as InstanceView) ??
      []
    ).map(({ subject, facts }) => [subject, facts['reason'], facts['readAt'], facts['error']]);
  const failing = { failures: 3, error: 'The answer broke off', dueAt: 9 * HOUR_MS };

  test('that fails is stale an hour after it should have been read, and not before', () => {
    expect(seen(failing, 2 * HOUR_MS)).toEqual([]);
    const readAt = '1970-01-01T00:00:00.000Z';
    expect(seen(failing, 2 * HOUR_MS + 1)).toEqual([['bad', 'failing', readAt, 'The answer broke off']]);
    const never = seen({ ...failing, confirmedAt: null }, 3 * HOUR_MS);
    expect(never).toEqual([['bad', 'failing', 'never', 'The answer broke off']]);
    expect(seen({}, 2 * HOUR_MS)).toEqual([]);
  });

  test('that nobody reads is stale, and so is one that has expired, subscription or file', () => {
    expect(seen({}, 2 * HOUR_MS + 1)).toEqual([['bad', 'overdue', expect.any(String), '']]);
    expect(seen({ isExpired: true }, 1)).toEqual([['bad', 'expired', expect.any(String), '']]);
    expect(seen({ dueAt: null }, 90 * DAY_MS)).toEqual([]);
    expect(seen({ dueAt: null, isExpired: true }, 90 * DAY_MS)).toEqual([['bad', 'expired', expect.any(String), '']]);
  });
});
