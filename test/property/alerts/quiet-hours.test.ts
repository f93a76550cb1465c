/** Quiet hours against a clock that is read minute by minute. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sendableAt } from '../../../src/alerts/alert-times.ts';
import { type QuietHours, quietHours } from '../../../src/contract/management/alerts.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

const MINUTE_MS = 60_000;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia'];

const two = (value: number): string => String(value).padStart(2, '0');
const time = fc.integer({ min: 0, max: 1439 }).map((minute) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`);
const quiet = fc
  .record({
    from: time,
    until: time,
    timeZone: fc.constantFrom(...zones),
    except: fc.constant<QuietHours['except']>([]),
  })
  .filter(({ from, until }) => from !== until);
const moment = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2028, 0, 1) });

function isQuiet({ from, until, timeZone }: QuietHours, atMs: number): boolean {
  const now = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }).format(atMs);
  return from < until ? now >= from && now < until : now >= from || now < until;
}

test('an alert waits exactly while it is quiet, but for the hour in which clocks are moved', () => {
  fc.assert(
    fc.property(quiet, moment, (hours, now) => {
      const at = sendableAt(hours, 'origin-failing', now);
      if (!isQuiet(hours, now)) {
        expect(at).toBe(now);
        return;
      }
      expect(at).toBeGreaterThan(now);
      expect(at - now).toBeLessThanOrEqual(25 * 60 * MINUTE_MS);
      // A time of day that a moved clock skips or repeats has no one moment.
      const [before, after] = [isQuiet(hours, at - MINUTE_MS), isQuiet(hours, at)];
      const offsets = [-120, 0, 120].map((minutes) => offsetOf(hours.timeZone, at + minutes * MINUTE_MS));
      if (new Set(offsets).size === 1) expect([before, after]).toEqual([true, false]);
    }),
    { numRuns: runs(300) },
  );
});

function offsetOf(timeZone: string, atMs: number): string | undefined {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value;
}

test('what is excepted, a test, and a channel without quiet hours do not wait', () => {
  const hours: QuietHours = { from: '00:00', until: '23:59', timeZone: 'UTC', except: ['rules-stale'] };
  expect(sendableAt(hours, 'rules-stale', 0)).toBe(0);
  expect(sendableAt(hours, 'test', 0)).toBe(0);
  expect(sendableAt(null, 'origin-failing', 0)).toBe(0);
  expect(sendableAt(hours, 'origin-failing', 0)).toBe(Date.UTC(1970, 0, 1, 23, 59));
});

test('hours that do not exist are no quiet hours', () =>
  expectRows(
    [
      { from: '22:00', until: '22:00', timeZone: 'UTC' },
      { from: '24:00', until: '22:00', timeZone: 'UTC' },
      { from: '22:00', until: '07:60', timeZone: 'UTC' },
      { from: '22:00', until: '07:00', timeZone: 'Mars/Olympus' },
      { from: '22:00', until: '07:00', timeZone: '' },
    ],
    (given) => {
      expect(quietHours.safeParse(given).success).toBe(false);
    },
  ));
