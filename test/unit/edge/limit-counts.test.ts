/** Counts of one isolate: the sliding window, reports, answers, the share before an answer, and an outage. */
import { describe, expect, test } from 'vitest';
import type { LimitCounter, LimitSums } from '../../../src/contract/edge/limits.ts';
import type { CountedMeter } from '../../../src/edge/config/compiled-limits.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { reportAnswered, type SaidOfReport } from '../../support/service-client.ts';

const WINDOW_MS = 600_000;
/** The start of a window. */
const START_MS = 3000 * WINDOW_MS;
const LIMIT = 30;
const sliding = { count: LIMIT, windowMs: WINDOW_MS, isBucket: false, leash: LIMIT / 6 };

interface Clock {
  nowMs: number;
}

type Ledger = (counters: readonly LimitCounter[]) => Promise<SaidOfReport>;

function countsWith(ledgerOf: Ledger | null, clock: Clock) {
  const report = ledgerOf && (async (counters: readonly LimitCounter[]) => reportAnswered(await ledgerOf(counters)));
  const counted: string[] = [];
  const works: Promise<unknown>[] = [];
  const counts = new LimitCounts({
    report,
    now: () => clock.nowMs,
    sleep: async (ms) => void (clock.nowMs += ms),
    count: (name) => counted.push(name),
  });
  /** Takes while there is room, at most `most` times. */
  const takeAll = (most = 1000, key = 'page 192.0.2.0/24', meter: CountedMeter = sliding): number => {
    let taken = 0;
    while (taken < most && counts.waitMs(key, meter, clock.nowMs) === 0) {
      counts.take(key, meter, clock.nowMs);
      counts.report(clock.nowMs, (work) => works.push(work));
      taken++;
    }
    return taken;
  };
  const settled = async () => void (await Promise.all(works.splice(0)));
  return { counts, counted, takeAll, settled };
}

/** A ledger for any number of isolates. */
function ledger() {
  const sums = new Map<string, number>();
  return async (counters: readonly LimitCounter[]): Promise<LimitSums> =>
    counters.map(({ key, window, count }) => {
      const now = (sums.get(`${window} ${key}`) ?? 0) + count;
      sums.set(`${window} ${key}`, now);
      return [sums.get(`${window - 1} ${key}`) ?? 0, now] as const;
    });
}

describe('without a ledger', () => {
  test('the isolate’s own counts hold the limit', () => {
    const { takeAll } = countsWith(null, { nowMs: START_MS });
    expect([takeAll(), takeAll()]).toEqual([LIMIT, 0]);
  });

  test('room comes back as the window moves on, and not at once when it ends', () => {
    const clock = { nowMs: START_MS + WINDOW_MS - 1 };
    const { takeAll } = countsWith(null, clock);
    expect(takeAll()).toBe(LIMIT);
    clock.nowMs = START_MS + WINDOW_MS;
    expect(takeAll()).toBe(0);
    clock.nowMs += WINDOW_MS / 2;
    expect(takeAll()).toBe(LIMIT / 2);
    clock.nowMs += 3 * WINDOW_MS;
    expect(takeAll()).toBe(LIMIT);
  });

  test('keys are counted apart', () => {
    const { takeAll } = countsWith(null, { nowMs: START_MS });
    expect(takeAll()).toBe(LIMIT);
    expect(takeAll(1000, 'page 198.51.100.0/24')).toBe(LIMIT);
  });
});

describe('with a ledger', () => {
  test('an isolate uses a sixth of the limit before it has an answer, and all of it after', async () => {
    const { takeAll, settled } = countsWith(ledger(), { nowMs: START_MS });
    let total = 0;
    for (let round = 0; round < 20; round++) {
      const taken = takeAll();
      expect(taken).toBeLessThanOrEqual(LIMIT / 6);
      total += taken;
      await settled();
    }
    expect(total).toBe(LIMIT);
  });

  test.each([2, 5, 20])('%d isolates exceed the limit by a sixth of it each at most', async (isolates) => {
    const shared = ledger();
    const all = Array.from({ length: isolates }, () => countsWith(shared, { nowMs: START_MS }));
    let total = 0;
    for (let round = 0; round < 20; round++) {
      for (const { takeAll } of all) total += takeAll();
      await Promise.all(all.map(({ settled }) => settled()));
    }
    expect(total).toBeGreaterThanOrEqual(LIMIT);
    expect(total).toBeLessThanOrEqual(LIMIT + (isolates * LIMIT) / 6);
  });

  test('uses without a pause are refused while an answer is due, and pass after it: `count` of them and no more', async () => {
    const answers: (() => void)[] = [];
    const shared = ledger();
    const { takeAll, settled } = countsWith(
      async (counters) => {
        await new Promise<void>((answer) => answers.push(answer));
        return shared(counters);
      },
      { nowMs: START_MS },
    );
    const twenty = { count: 20, windowMs: WINDOW_MS, isBucket: false, leash: 10 };
    const passed: number[] = [];
    // The one use of the first report is confirmed first, and then all that passed meanwhile.
    for (let round = 0; round < 4; round++) {
      passed.push(takeAll(1000, 'guesses', twenty), takeAll(1000, 'guesses', twenty));
      answers.shift()?.();
      await new Promise((turn) => setImmediate(turn));
    }
    while (answers.length > 0) {
      answers.shift()!();
      await new Promise((turn) => setImmediate(turn));
    }
    await settled();
    expect(passed).toEqual([10, 0, 1, 0, 9, 0, 0, 0]);
  });

  test('an isolate that starts later learns the sums with its first report', async () => {
    const shared = ledger();
    const clock = { nowMs: START_MS };
    const first = countsWith(shared, clock);
    while (first.takeAll() > 0) await first.settled();
    const second = countsWith(shared, clock);
    expect(second.takeAll()).toBeLessThanOrEqual(LIMIT / 6);
    await second.settled();
    expect(second.takeAll()).toBe(0);
  });

  test('what is counted while a report is under way goes out with the next one', async () => {
    const reported: number[] = [];
    const answers: (() => void)[] = [];
    const { takeAll, settled } = countsWith(
      async (counters) => {
        reported.push(...counters.map(({ count }) => count));
        if (reported.length === 1) await new Promise<void>((resolve) => answers.push(resolve));
        return counters.map(() => [0, 0] as const);
      },
      { nowMs: START_MS },
    );
    takeAll(1);
    takeAll(3);
    answers[0]!();
    await settled();
    expect(reported).toEqual([1, 3]);
  });
});

describe('a report', () => {
  /** Keys of visitors who write a new one for each request. */
  const flood = (counts: LimitCounts, keys: number) => {
    for (let key = 0; key < keys; key++) counts.take(`~${key}`, sliding, START_MS);
  };

  test('has room for other keys beside any number of those that visitors write freely', async () => {
    let reported = 0;
    const report = async (counters: readonly LimitCounter[]) => {
      for (const { key, count } of counters) if (!key.startsWith('~')) reported += count;
      return counters.map(() => [0, 1] as const);
    };
    const { counts, counted, takeAll, settled } = countsWith(report, { nowMs: START_MS });
    flood(counts, 5000);
    const unreported = counted.length;
    expect(unreported).toBeGreaterThan(0);
    takeAll(1);
    expect(counted).toHaveLength(unreported);
    await settled();
    takeAll(1, 'page 198.51.100.0/24');
    await settled();
    expect(reported).toBe(2);
  });

  test('has what had no room before, with the next use of the key', async () => {
    const reported: LimitCounter[] = [];
    const report = async (counters: readonly LimitCounter[]) => {
      reported.push(...counters);
      return counters.map(({ count }) => [0, count] as const);
    };
    const { counts, takeAll, settled } = countsWith(report, { nowMs: START_MS });
    flood(counts, 5000);
    counts.take('~4999', sliding, START_MS);
    for (let round = 0; round < 3; round++) {
      takeAll(1);
      await settled();
    }
    takeAll(1, '~4999');
    await settled();
    expect(reported.findLast(({ key }) => key === '~4999')?.count).toBe(3);
  });

  test('that is refused is dropped, and the next ones go out', async () => {
    const reported: LimitCounter[] = [];
    const report = async (counters: readonly LimitCounter[]) => {
      if (counters.some(({ key }) => key === 'bad')) return 'refused' as const;
      reported.push(...counters);
      return counters.map(() => [0, 1] as const);
    };
    const { takeAll, settled, counted } = countsWith(report, { nowMs: START_MS });
    takeAll(LIMIT / 6, 'bad');
    await settled();
    expect(counted).toContain('limit_report_failures');
    takeAll(1);
    await settled();
    expect(reported.map(({ key }) => key)).toEqual(['page 192.0.2.0/24']);
    // Nobody else knows of these uses, and here they still count.
    expect(takeAll(1000, 'bad')).toBe(LIMIT / 6);
  });
});

describe('in an outage of the ledger', () => {
  test('the isolate’s own counts go on alone, and are reported when it answers again', async () => {
    const clock = { nowMs: START_MS };
    let isUp = false;
    const shared = ledger();
    const reports: (readonly LimitCounter[])[] = [];
    const { takeAll, settled, counted } = countsWith(async (counters) => {
      reports.push(counters);
      return isUp ? shared(counters) : null;
    }, clock);
    expect(takeAll(1)).toBe(1);
    await settled();
    expect(takeAll()).toBe(LIMIT - 1);
    await settled();
    expect(reports).toHaveLength(1);
    expect(counted).toContain('limit_report_failures');
    isUp = true;
    clock.nowMs += 60_000;
    expect(takeAll()).toBe(0);
    const next = countsWith(shared, clock);
    clock.nowMs = START_MS + WINDOW_MS * 3;
    takeAll(1);
    await settled();
    expect(reports[1]!.map(({ count }) => count)).toEqual([LIMIT, 1]);
    expect(next.takeAll()).toBeGreaterThan(0);
  });
});
