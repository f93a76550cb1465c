/** The pace of sessions in isolates: what is reported, and how far several isolates can exceed it together. */
import { describe, expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import type { LimitCounter } from '../../../src/contract/edge/limits.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { type Cleared, type MeteredSession, NOT_PACED, Pace } from '../../../src/edge/limits/pace.ts';
import { CLEARANCE_DIFFICULTY, PACE_WINDOW_MS, paceWindow, unitsOf } from '../../../src/risk/pace.ts';
import { expectRows } from '../../support/rows.ts';
import { reportAnswered } from '../../support/service-client.ts';

/** A signed address. The edge reports addresses in no other form. */
const SIGNED = expect.stringMatching(/^[\w-]{16}$/);
const NOW_MS = 3000 * PACE_WINDOW_MS;
const settings = { html: 60, json: 600 };
const PAGE = unitsOf('html', settings);
const CALL = unitsOf('json', settings);

/** Isolates of one ledger, which is told of nothing before it is asked. */
function isolates(count: number) {
  const sums = new Map<string, number>();
  const reports: LimitCounter[] = [];
  const report = async (counters: readonly LimitCounter[]) => {
    reports.push(...counters);
    return reportAnswered(
      counters.map(({ key, window, count: units }) => {
        const now = (sums.get(`${window} ${key}`) ?? 0) + units;
        sums.set(`${window} ${key}`, now);
        return [sums.get(`${window - 1} ${key}`) ?? 0, now] as const;
      }),
    );
  };
  const ports = { report, now: () => NOW_MS, sleep: async () => {}, count: () => {} };
  return { all: Array.from({ length: count }, () => new Pace(new LimitCounts(ports))), reports };
}

const key = new HmacSha256(new Uint8Array(32));
const at = (nowMs: number, ip = '192.0.2.1') => ({ ip, key, nowMs });

const sessionWith = (pieces: number) => ({
  status: 'active' as const,
  jti: 'a',
  paid: {
    window: paceWindow(NOW_MS),
    before: 0,
    now: pieces,
    worked: pieces === 0 ? 0 : paceWindow(NOW_MS),
    advanced: paceWindow(NOW_MS),
  },
});

/** Asks for pages in turn until none of them lets one more through. */
async function pagesFrom(all: readonly Pace[], pieces: number): Promise<number> {
  let pages = 0;
  for (let refused = 0; refused < all.length;) {
    refused = 0;
    for (const pace of all) {
      const works: Promise<unknown>[] = [];
      if (pace.read(sessionWith(pieces), null, settings, at(NOW_MS)).reading?.state !== 'within') refused += 1;
      else {
        pace.take(['a'], PAGE, NOW_MS, sessionWith(pieces));
        pages += 1;
      }
      pace.report(NOW_MS, (work) => works.push(work));
      await Promise.all(works);
    }
  }
  return pages;
}

test('a session at a person’s pace, which works ahead, is never reported', async () => {
  const { all, reports } = isolates(1);
  for (let page = 0; page < 14; page++) all[0]!.take(['a'], PAGE, NOW_MS, sessionWith(2));
  for (let call = 0; call < 9; call++) all[0]!.take(['a'], CALL, NOW_MS, sessionWith(2));
  all[0]!.report(NOW_MS, () => expect.unreachable('nothing is reported'));
  expect(reports).toEqual([]);
});

test.each([
  ['a quarter of an allowance', 15, 8],
  ['all that it has', 4, 0],
])('what was counted before the first report, at %s, is in it', async (_, pages, pieces) => {
  const { all, reports } = isolates(1);
  const works: Promise<unknown>[] = [];
  for (let page = 0; page < pages - 1; page++) all[0]!.take(['a'], PAGE, NOW_MS, sessionWith(pieces));
  all[0]!.report(NOW_MS, () => expect.unreachable('nothing is reported yet'));
  all[0]!.take(['a'], PAGE, NOW_MS, sessionWith(pieces));
  all[0]!.report(NOW_MS, (work) => works.push(work));
  await Promise.all(works);
  expect(reports).toMatchObject([{ key: 'pace a', count: pages * PAGE, window: paceWindow(NOW_MS) }]);
});

test('a session that never works gets its advance from each isolate once, which the service then knows', async () => {
  const { all, reports } = isolates(20);
  expect(await pagesFrom(all, 0)).toBe(20 * 4);
  expect(reports).toHaveLength(20);
  expect(all[19]!.read(sessionWith(8), null, settings, at(NOW_MS)).reading?.state).toBe('spent');
});

test('one isolate lets through exactly what was worked for', async () => {
  expect(await pagesFrom(isolates(1).all, 0)).toBe(4);
  expect(await pagesFrom(isolates(1).all, 8)).toBe(64);
});

test.each([2, 5, 20])('%d isolates let through a third of an allowance more each, at most', async (count) => {
  const pages = await pagesFrom(isolates(count).all, 8);
  expect(pages).toBeGreaterThanOrEqual(64);
  expect(pages).toBeLessThanOrEqual(64 + count * 19);
});

test('a session of an older service, and an instance that meters none, have no pace', () => {
  const [pace] = isolates(1).all;
  expect(pace!.read({ ...sessionWith(0), paid: null }, null, settings, at(NOW_MS))).toEqual(NOT_PACED);
  expect(pace!.read(sessionWith(0), null, { html: 0, json: 600 }, at(NOW_MS))).toEqual(NOT_PACED);
  expect(pace!.read(sessionWith(0), null, { html: 60, json: 0 }, at(NOW_MS))).toEqual(NOT_PACED);
});

describe('a clearance', () => {
  const none = { status: 'none', jti: null, paid: null } as const;
  const cleared = (powDifficulty: number) => ({ jti: 'c', powDifficulty, issuedAtMs: NOW_MS, sinceMs: NOW_MS });
  const AT_LEAST = cleared(CLEARANCE_DIFFICULTY);

  /** Pages that a visitor gets with it. */
  const pagesOf = (session: MeteredSession, clearance: Cleared): number => {
    const [pace] = isolates(1).all;
    let pages = 0;
    for (;;) {
      const { payers } = pace!.read(session, clearance, settings, at(NOW_MS));
      if (payers === null) return pages;
      pace!.take(payers, PAGE, NOW_MS, session);
      pages += 1;
    }
  };

  test('pays for a session that is spent, and for a visitor without one', () => {
    expect(pagesOf(sessionWith(0), AT_LEAST)).toBe(4 + 3);
    expect(pagesOf(none, AT_LEAST)).toBe(3);
  });

  test('is good for what its work would buy as pieces, up to a quarter of an allowance', () =>
    expectRows(
      [
        [1, 3],
        [5.5, 3],
        [7.5, 8],
        [8.5, 12],
        [9.5, 15],
        [10, 15],
      ],
      ([powDifficulty, pages]) => expect(pagesOf(none, cleared(powDifficulty))).toBe(pages),
    ));

  test('that was waited for pays three pages by itself, then by address from its beginning on, and calls as pages', () => {
    const [pace] = isolates(1).all;
    const { payers, callWeight } = pace!.read(none, cleared(0), settings, at(NOW_MS));
    expect(payers).toEqual(['c']);
    expect(callWeight).toBe(settings.json / settings.html);
    expect(pace!.read(none, cleared(0), { html: 70, json: 500 }, at(NOW_MS)).callWeight).toBe(7);
    pace!.take(['c'], 3 * PAGE, NOW_MS, none);
    expect(pace!.read(none, cleared(0), settings, at(NOW_MS))).toMatchObject({
      payers: [SIGNED, '192.0.2.0/24', '192.0.0.0/16'],
      callWeight,
    });
    expect(pagesOf(none, cleared(0))).toBe(3 + 15);
  });

  test('that was waited for is good for three pages, whatever neighbours at its address used', () => {
    const [pace] = isolates(1).all;
    const use = (clearance: Cleared): number => {
      for (let pages = 0; ; pages++) {
        const { payers } = pace!.read(none, clearance, settings, at(NOW_MS));
        if (payers === null) return pages;
        pace!.take(payers, PAGE, NOW_MS, none);
      }
    };
    const earlierMs = NOW_MS - 3 * PACE_WINDOW_MS;
    expect(use({ ...AT_LEAST, jti: 'neighbour', issuedAtMs: earlierMs, sinceMs: earlierMs })).toBe(15);
    expect(use(cleared(0))).toBe(3);
  });

  test('pays in the window in which it was issued and in the next, once in both together', () => {
    const [pace] = isolates(1).all;
    const isGood = (nowMs: number) => pace!.read(none, AT_LEAST, settings, at(nowMs)).payers !== null;
    pace!.take(['c'], 2 * PAGE, NOW_MS, none);
    const next = NOW_MS + PACE_WINDOW_MS;
    expect(isGood(next)).toBe(true);
    pace!.take(['c'], PAGE, next, none);
    expect(isGood(next)).toBe(false);
  });

  describe('later on its day', () => {
    const LATER_MS = NOW_MS + 2 * PACE_WINDOW_MS;
    /** Pages in one window of visitors at these addresses, who have ten clearances each. */
    const pagesAt = (pace: Pace, ips: readonly string[], nowMs: number): number => {
      let pages = 0;
      for (const ip of ips) {
        for (let id = 0; id < 10; id++) {
          for (;;) {
            const { payers } = pace.read(none, { ...AT_LEAST, jti: `${ip} ${id}` }, settings, at(nowMs, ip));
            if (payers === null) break;
            pace.take(payers, PAGE, nowMs, none);
            pages += 1;
          }
        }
      }
      return pages;
    };
    const addresses = (network: string) => Array.from({ length: 250 }, (_, last) => `${network}.${last}`);

    test('is good for fifteen pages of its address in each window, however many there are', () => {
      const [pace] = isolates(1).all;
      expect(pagesAt(pace!, ['192.0.2.1'], LATER_MS)).toBe(15);
      expect(pagesAt(pace!, ['192.0.2.1'], LATER_MS + PACE_WINDOW_MS)).toBe(15);
    });

    test('is good for sixty pages of a /24 and 600 of a /16', () => {
      const [pace] = isolates(1).all;
      expect(pagesAt(pace!, addresses('192.0.2'), LATER_MS)).toBe(60);
      const others = Array.from({ length: 20 }, (_, third) => `192.0.${100 + third}`);
      expect(pagesAt(pace!, others.flatMap(addresses), LATER_MS)).toBe(540);
      expect(pagesAt(pace!, ['198.51.100.1'], LATER_MS)).toBe(15);
    });

    test('pays for a session that is spent as well', () => {
      const [pace] = isolates(1).all;
      const spent = { ...sessionWith(0), paid: { ...sessionWith(0).paid, window: paceWindow(LATER_MS) } };
      pace!.take(['a'], 4 * PAGE, LATER_MS, spent);
      expect(pace!.read(spent, AT_LEAST, settings, at(LATER_MS)).payers).toEqual([
        'a',
        SIGNED,
        '192.0.2.0/24',
        '192.0.0.0/16',
      ]);
    });

    test('is reported by its address from the first page on, so that another isolate gives one page more at most', async () => {
      const { all } = isolates(5);
      let pages = 0;
      for (let round = 0; round < 20; round++) {
        for (const pace of all) {
          const works: Promise<unknown>[] = [];
          const { payers } = pace.read(none, AT_LEAST, settings, at(LATER_MS));
          if (payers === null) continue;
          pace.take(payers, PAGE, LATER_MS, none);
          pages += 1;
          pace.report(LATER_MS, (work) => works.push(work));
          await Promise.all(works);
        }
      }
      expect(pages).toBeLessThanOrEqual(15 + (all.length - 1));
    });
  });

  test('is reported from its first page on, so that another isolate gives one page of it at most', async () => {
    const { all } = isolates(5);
    let pages = 0;
    for (const pace of [...all, ...all, ...all]) {
      const works: Promise<unknown>[] = [];
      const { payers } = pace.read(none, AT_LEAST, settings, at(NOW_MS));
      if (payers === null) continue;
      pace.take(payers, PAGE, NOW_MS, none);
      pages += 1;
      pace.report(NOW_MS, (work) => works.push(work));
      await Promise.all(works);
    }
    expect(pages).toBe(3 + (all.length - 1));
  });

  test('is worth no more to a second session', () => {
    const [pace] = isolates(1).all;
    pace!.take(['c'], 3 * PAGE, NOW_MS, none);
    const other = { ...sessionWith(0), jti: 'b' };
    for (let page = 0; page < 4; page++) {
      pace!.take(pace!.read(other, AT_LEAST, settings, at(NOW_MS)).payers!, PAGE, NOW_MS, other);
    }
    expect(pace!.read(other, AT_LEAST, settings, at(NOW_MS)).payers).toBeNull();
  });

  test('counts for nothing where sessions are off or not metered', () => {
    const [pace] = isolates(1).all;
    pace!.take(['c'], 1000 * PAGE, NOW_MS, none);
    expect(pace!.read({ ...none, status: 'off' }, AT_LEAST, settings, at(NOW_MS))).toEqual(NOT_PACED);
    expect(pace!.read({ ...sessionWith(0), paid: null }, AT_LEAST, settings, at(NOW_MS))).toEqual(NOT_PACED);
    expect(pace!.read(none, AT_LEAST, { html: 0, json: 0 }, at(NOW_MS))).toEqual(NOT_PACED);
  });
});
