/** The pace of sessions in isolates: what is reported, and how far several isolates can exceed it together. */
import { expect, test } from 'vitest';
import type { LimitCounter } from '../../../src/contract/edge/limits.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Pace } from '../../../src/edge/limits/pace.ts';
import { PACE_WINDOW_MS, paceWindow } from '../../../src/risk/pace.ts';
import { reportAnswered } from '../../support/service-client.ts';

const NOW_MS = 3000 * PACE_WINDOW_MS;
const settings = { html: 60, json: 600 };
const PAGE = 10;

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

const sessionWith = (pieces: number) => ({ jti: 'a', paid: { window: paceWindow(NOW_MS), before: 0, now: pieces } });

/** Asks for pages in turn until none of them lets one more through. */
async function pagesFrom(all: readonly Pace[], pieces: number): Promise<number> {
  let pages = 0;
  for (let refused = 0; refused < all.length;) {
    refused = 0;
    for (const pace of all) {
      const works: Promise<unknown>[] = [];
      if (pace.read(sessionWith(pieces), settings, NOW_MS)?.state !== 'within') refused += 1;
      else {
        pace.take('a', PAGE, settings, NOW_MS);
        pages += 1;
      }
      pace.report(NOW_MS, (work) => works.push(work));
      await Promise.all(works);
    }
  }
  return pages;
}

test('a session at a person’s pace is never reported', async () => {
  const { all, reports } = isolates(1);
  for (let page = 0; page < 14; page++) all[0]!.take('a', PAGE, settings, NOW_MS);
  for (let call = 0; call < 9; call++) all[0]!.take('a', 1, settings, NOW_MS);
  all[0]!.report(NOW_MS, () => expect.unreachable('nothing is reported'));
  expect(reports).toEqual([]);
});

test('what was counted before the first report is in it', async () => {
  const { all, reports } = isolates(1);
  const works: Promise<unknown>[] = [];
  for (let page = 0; page < 15; page++) all[0]!.take('a', PAGE, settings, NOW_MS);
  all[0]!.report(NOW_MS, (work) => works.push(work));
  await Promise.all(works);
  expect(reports).toMatchObject([{ key: 'pace a', count: 150, window: paceWindow(NOW_MS) }]);
});

test('one isolate lets through exactly what was worked for', async () => {
  expect(await pagesFrom(isolates(1).all, 0)).toBe(4);
  expect(await pagesFrom(isolates(1).all, 8)).toBe(64);
});

test.each([2, 5, 20])('%d isolates let through a quarter of an allowance more each, at most', async (count) => {
  const pages = await pagesFrom(isolates(count).all, 8);
  expect(pages).toBeGreaterThanOrEqual(64);
  expect(pages).toBeLessThanOrEqual(64 + count * 15);
});

test('a session of an older service, and an instance that meters none, have no pace', () => {
  const [pace] = isolates(1).all;
  expect(pace!.read({ jti: 'a', paid: null }, settings, NOW_MS)).toBeNull();
  expect(pace!.read(sessionWith(0), { html: 0, json: 600 }, NOW_MS)).toBeNull();
  expect(pace!.read(sessionWith(0), { html: 60, json: 0 }, NOW_MS)).toBeNull();
});
