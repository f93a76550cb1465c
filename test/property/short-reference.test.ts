/** The short form of a reference: where it is looked for always has the request that it was made of. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortReference, shortReferenceWindow } from '../../src/contract/edge/short-reference.ts';
import { newEventId } from '../../src/logsink/event-id.ts';

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2026, 0, 1);
const LAST_MS = Date.UTC(2090, 0, 1);

test('a request of the last 49 days lies in the window of its short form, which is 65.5 seconds long', () => {
  const moment = fc.integer({ min: FIRST_MS, max: LAST_MS });
  fc.assert(
    fc.property(moment, fc.integer({ min: 0, max: 49 * DAY_MS }), (atMs, agoMs) => {
      const short = shortReference(newEventId(atMs))!;
      const { since, until } = shortReferenceWindow(short, atMs + agoMs);
      expect(since <= atMs && atMs < until).toBe(true);
      expect(until - since).toBe(65_536);
    }),
  );
});

test('the window never begins after the time that it is looked for at', () => {
  fc.assert(
    fc.property(fc.integer({ min: FIRST_MS, max: LAST_MS }), fc.integer({ min: 0, max: 0xffff }), (nowMs, high) => {
      const { since } = shortReferenceWindow(`${high.toString(16).padStart(4, '0')}-0000`, nowMs);
      expect(since).toBeLessThanOrEqual(nowMs);
      expect(since).toBeGreaterThan(nowMs - 2 ** 32);
    }),
  );
});

test('an id that is no UUIDv7 has no short form', () => {
  for (const id of ['', 'req-1', '01a209a6-dfc4-4ba8-8d3e-233b91e7b6ba']) expect(shortReference(id)).toBeNull();
});
