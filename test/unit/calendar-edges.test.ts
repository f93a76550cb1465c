/**
 * The ends of days, months and years, on purpose: every other test begins at an ordinary midday. Each fact holds one
 * millisecond before the edge and at it.
 */
import { expect, test } from 'vitest';
import { keyDay, keyDayAccepted } from '../../src/captcha/seal/keyring.ts';
import { oneFits, rolled, windowNumber } from '../../src/limits/two-windows.ts';
import { trafficRange } from '../../src/service/operations/traffic/traffic-range.ts';
import { retentionHorizon } from '../../src/store/event-log/retention.ts';
import { expectRows } from '../support/rows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The first millisecond of a day, and what begins with it. */
const edges: [begins: string, dayStart: string][] = [
  ['a day', '2035-05-17'],
  ['a month', '2035-06-01'],
  ['a month after a short one', '2035-03-01'],
  ['a leap day', '2036-02-29'],
  ['a month after a leap day', '2036-03-01'],
  ['a year', '2036-01-01'],
  ['a year after a leap year', '2037-01-01'],
];
const startMs = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);

test('traffic without a range is that of the month in which its last millisecond lies', async () => {
  const monthAt = (nowMs: number): [string, string] => {
    const { since, until } = trafficRange({}, nowMs);
    return [new Date(since).toISOString(), new Date(until).toISOString()];
  };
  const monthOf = (day: string): [string, string] => {
    const [year, month] = day.split('-').map(Number) as [number, number];
    const next = month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`;
    return [`${day.slice(0, 7)}-01T00:00:00.000Z`, `${next}-01T00:00:00.000Z`];
  };
  await expectRows(edges, ([, day]) => {
    expect(monthAt(startMs(day))).toEqual(monthOf(day));
    expect(monthAt(startMs(day) - 1)).toEqual(monthOf(new Date(startMs(day) - 1).toISOString().slice(0, 10)));
  });
});

test('a range that ends on a day includes its last millisecond, also where a month or a year ends', async () => {
  await expectRows(edges, ([, day]) => {
    const lastDay = { ms: startMs(day) - DAY_MS, isDay: true };
    const { since, until } = trafficRange({ startDate: lastDay, endDate: lastDay }, startMs(day));
    expect([since, until]).toEqual([startMs(day) - DAY_MS, startMs(day)]);
  });
});

test('a key of a day is accepted until the last millisecond of the next one', async () => {
  await expectRows(edges, ([, day]) => {
    const yesterdays = keyDay(startMs(day) - 1);
    expect(keyDay(startMs(day))).toBe(yesterdays + 1);
    expect(keyDayAccepted(yesterdays, startMs(day) + DAY_MS - 1)).toBe(true);
    expect(keyDayAccepted(yesterdays, startMs(day) + DAY_MS)).toBe(false);
  });
});

test('a key of tomorrow is accepted from an issuer whose clock is seconds ahead, and not from one hours ahead', async () => {
  await expectRows(edges, ([, day]) => {
    const tomorrows = keyDay(startMs(day));
    expect(keyDayAccepted(tomorrows, startMs(day) - 1)).toBe(true);
    expect(keyDayAccepted(tomorrows, startMs(day) - 6 * HOUR_MS)).toBe(false);
  });
});

test('uses in the last millisecond of a window still fill the limit in the first one of the next', async () => {
  const meter = { count: 3, windowMs: DAY_MS };
  await expectRows(edges, ([, day]) => {
    const full = { window: windowNumber(startMs(day) - 1, DAY_MS), before: 0, now: 3 };
    expect(oneFits(rolled(full, startMs(day) - 1, DAY_MS), meter, startMs(day) - 1)).toBe(false);
    expect(oneFits(rolled(full, startMs(day), DAY_MS), meter, startMs(day))).toBe(false);
    expect(oneFits(rolled(full, startMs(day) + DAY_MS, DAY_MS), meter, startMs(day) + DAY_MS)).toBe(true);
  });
});

test('what is kept begins at the same hour of an earlier day, never in the middle of an hour', async () => {
  await expectRows(edges, ([, day]) => {
    expect(retentionHorizon(30, startMs(day))).toBe(startMs(day) - 30 * DAY_MS);
    expect(retentionHorizon(30, startMs(day) - 1)).toBe(startMs(day) - 30 * DAY_MS - HOUR_MS);
  });
});
