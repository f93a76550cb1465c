/** States over random observations: begins and ends alternate, and neither comes before its hold time. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stateChange, type KnownState } from '../../../src/alerts/state-change.ts';
import { retryAt } from '../../../src/alerts/alert-times.ts';

const hold = { beginsAfterMs: 10, endsAfterMs: 20 };
const observation = fc.record({ isSeen: fc.boolean(), afterMs: fc.integer({ min: 1, max: 15 }) });

test('a state begins after it was seen for long enough, ends after it was gone for long enough, and in this order', () => {
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 200 }), (observations) => {
      let known: KnownState | null = null;
      let now = 0;
      let [seenSince, goneSince] = [Number.NaN, 0];
      const happened: string[] = [];
      for (const { isSeen, afterMs } of observations) {
        now += afterMs;
        if (isSeen) [seenSince, goneSince] = [Number.isNaN(seenSince) ? now : seenSince, Number.NaN];
        else [seenSince, goneSince] = [Number.NaN, Number.isNaN(goneSince) ? now : goneSince];
        const change = stateChange(known, isSeen, hold, now);
        known = change.next;
        if (change.happened?.phase === 'begins') expect(now - seenSince).toBeGreaterThanOrEqual(hold.beginsAfterMs);
        if (change.happened?.phase === 'ends') expect(now - goneSince).toBeGreaterThanOrEqual(hold.endsAfterMs);
        if (change.happened) happened.push(`${change.happened.phase} ${change.happened.begunAt}`);
      }
      happened.forEach((text, at) => {
        const begins = happened[at - (at % 2)]!.replace('ends', 'begins');
        expect(text).toBe(at % 2 === 0 ? begins : begins.replace('begins', 'ends'));
      });
    }),
  );
});

test('without a hold time a state begins and ends at once', () => {
  const none = { beginsAfterMs: 0, endsAfterMs: 0 };
  const { next, happened } = stateChange(null, true, none, 5);
  expect(happened).toEqual({ phase: 'begins', begunAt: 5 });
  expect(stateChange(next, false, none, 9)).toEqual({ next: null, happened: { phase: 'ends', begunAt: 5 } });
});

test('a failed delivery is repeated for a day: soon at first, then hourly, about thirty times', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (random) => {
      let [now, attempts] = [1000, 0];
      for (;;) {
        attempts++;
        const next = retryAt(attempts, 1000, now, random.next().value as number);
        if (next === null) break;
        expect(next).toBeGreaterThan(now);
        expect(next - now).toBeLessThanOrEqual(3_600_000);
        if (attempts === 1) expect(next - now).toBeLessThanOrEqual(30_000);
        now = next;
      }
      expect(now - 1000).toBeLessThanOrEqual(24 * 3_600_000);
      expect(now - 1000).toBeGreaterThanOrEqual(23 * 3_600_000);
      expect(attempts).toBeGreaterThanOrEqual(25);
      expect(attempts).toBeLessThanOrEqual(70);
    }),
  );
});
