/** The time of the service, as an edge learns it from responses. */
import { expect, test } from 'vitest';
import { SENT_AT_HEADER } from '../../../src/contract/edge/record-bounds.ts';
import { ServiceClock } from '../../../src/logsink/service-clock.ts';
import { expectRows } from '../../support/rows.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;

/** What the clock says after a response with this header; `null`: without it. */
function nowAfter(sentAt: string | null): number {
  const clock = new ServiceClock({ nowMs: () => NOW_MS });
  clock.learn(new Response(null, { headers: sentAt === null ? {} : { [SENT_AT_HEADER]: sentAt } }));
  return clock.nowMs();
}

test('a difference above five minutes is taken over, in either direction', () =>
  expectRows([-10, 6, 24 * 60], (minutes) => {
    const serviceNow = NOW_MS + minutes * MINUTE_MS;
    expect(nowAfter(String(serviceNow))).toBe(serviceNow);
  }));

test('a smaller difference changes nothing', () =>
  expectRows([-5, 0, 5], (minutes) => {
    expect(nowAfter(String(NOW_MS + minutes * MINUTE_MS))).toBe(NOW_MS);
  }));

test('a header that is no time changes nothing', () =>
  expectRows([null, '', 'soon', 'NaN', 'Infinity', '-1', '1e99', '0x10', '2026-11-20T12:00:00Z'], (sentAt) => {
    expect(nowAfter(sentAt)).toBe(NOW_MS);
  }));
