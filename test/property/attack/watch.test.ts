/** The watch over simulated days: no alarm in usual traffic of any size, and an alarm in time in a surge. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STEP_MS, type TrafficStep } from '../../../src/attack/traffic.ts';
import { STEPS_KEPT, watch, type Watched, watchedFrom, watchedIn } from '../../../src/attack/watch.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { randomFrom } from '../rules/random.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const MINIMUM_RATE = 100;
/** From a request to the object: the batch of the edge and the turn of the service's isolate. */
const REPORTED_AFTER_MS = 3 * SECOND_MS;

type Rate = (atMs: number) => number;

/** A site with this traffic, whose watch hears of each step late and looks at it in each step. */
class Site {
  readonly steps = new Map<number, TrafficStep>();
  readonly random: () => number;
  known: Watched;
  now: number;
  alarms: number[] = [];

  constructor(seed: number, beginMs = 0) {
    const numbers = randomFrom(seed);
    this.random = () => numbers.word() / 2 ** 32;
    this.now = beginMs;
    this.known = watchedFrom(beginMs);
  }

  run(forMs: number, rate: Rate, parts: { refused?: number; errors?: number; originMs?: number } = {}): void {
    const until = this.now + forMs;
    for (; this.now < until; this.now += STEP_MS) {
      const heardAt = this.now - REPORTED_AFTER_MS;
      const step = Math.floor(heardAt / STEP_MS);
      const requests = this.#poisson(rate(step * STEP_MS) * (STEP_MS / SECOND_MS));
      const { refused = 0.05, errors = 0.01, originMs = 100 } = parts;
      this.steps.set(step, {
        step,
        requests,
        refused: requests * refused,
        originResponses: requests * (1 - refused),
        originErrors: requests * (1 - refused) * errors,
        originMs: requests * (1 - refused) * originMs,
      });
      this.steps.delete(step - STEPS_KEPT);
      const wasAlarm = this.known.alarm !== null;
      this.known = watch(this.known, this.steps, MINIMUM_RATE, this.now);
      if (!wasAlarm && this.known.alarm !== null) this.alarms.push(this.now);
    }
  }

  /** Page loads come in bursts: pages of ten requests. */
  #poisson(mean: number): number {
    const pages = mean / 10;
    const spread =
      Math.sqrt(pages) * Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
    return Math.max(0, Math.round(10 * (pages + spread)));
  }
}

/** Least at four in the morning, and four times as much at four in the afternoon. */
const daily =
  (mean: number): Rate =>
  (atMs) =>
    mean * (1 + 0.6 * Math.cos(((atMs / HOUR_MS - 16) / 24) * 2 * Math.PI));

describe('no alarm', () => {
  test('in a day of a site with any traffic', () =>
    expectRows([0.1, 2, 20, 200, 3000], (mean) => {
      const site = new Site(mean * 10, 7 * HOUR_MS);
      site.run(26 * HOUR_MS, daily(mean));
      expect(site.alarms).toEqual([]);
    }));

  test('in the first minutes of a quiet site, whenever they are', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0.1, max: 60, noNaN: true }),
        fc.integer({ min: 0, max: 23 }),
        (seed, rate, hour) => {
          const site = new Site(seed, hour * HOUR_MS);
          site.run(20 * MINUTE_MS, () => rate);
          expect(site.alarms).toEqual([]);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test('after a deploy that stops everything for half a minute, and what was held arrives late', () => {
    const site = new Site(3, 9 * HOUR_MS);
    site.run(2 * HOUR_MS, () => 150);
    site.run(30 * SECOND_MS, () => 0);
    // Each step is counted at its own time, however late it is heard of.
    const first = Math.floor(site.now / STEP_MS) - 16;
    for (let step = first; step < first + 15; step++) {
      const requests = 300;
      site.steps.set(step, { step, requests, refused: 0, originResponses: 0, originErrors: 0, originMs: 0 });
    }
    site.run(HOUR_MS, () => 150);
    expect(site.alarms).toEqual([]);
  });

  test('when reports come back after an hour without any', () => {
    const site = new Site(9, 9 * HOUR_MS);
    site.run(2 * HOUR_MS, () => 150);
    site.now += HOUR_MS;
    site.run(HOUR_MS, () => 150);
    expect(site.alarms).toEqual([]);
  });

  test('in a newsletter that brings three times the visitors within a minute', () => {
    const site = new Site(4);
    site.run(3 * HOUR_MS, () => 60);
    const from = site.now;
    site.run(30 * MINUTE_MS, (at) => 60 + 120 * Math.min(1, (at - from) / MINUTE_MS));
    expect(site.alarms).toEqual([]);
  });
});

describe('a surge of 1,000 requests a second', () => {
  test('is an alarm within ten seconds and is over within four minutes after its end, on any site and at any time', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.integer({ min: 30, max: 20 * 60 }),
        fc.integer({ min: 1, max: 60 }),
        (seed, mean, usualMinutes, surgeMinutes) => {
          const site = new Site(seed, 5 * HOUR_MS);
          site.run(usualMinutes * MINUTE_MS, daily(mean));
          expect(site.alarms).toEqual([]);
          const begin = site.now;
          site.run(surgeMinutes * MINUTE_MS, (at) => daily(mean)(at) + (at >= begin ? 1000 : 0));
          expect(site.alarms).toHaveLength(1);
          expect(site.alarms[0]! - begin).toBeLessThanOrEqual(10 * SECOND_MS);
          expect(site.known.alarm).not.toBeNull();
          site.run(4 * MINUTE_MS, daily(mean));
          expect(site.known.alarm).toBeNull();
          site.run(30 * MINUTE_MS, daily(mean));
          expect(site.alarms).toHaveLength(1);
        },
      ),
      { numRuns: runs(20) },
    );
  });

  test('is an alarm on a site that is watched for less than a minute', () => {
    const site = new Site(5);
    site.run(50 * SECOND_MS, () => 1);
    const begin = site.now;
    site.run(MINUTE_MS, () => 1000);
    expect(site.alarms[0]! - begin).toBeLessThanOrEqual(10 * SECOND_MS);
  });

  test('that pauses for a minute is one alarm', () => {
    const site = new Site(6);
    site.run(HOUR_MS, () => 20);
    for (let wave = 0; wave < 10; wave++) {
      site.run(MINUTE_MS, () => 1000);
      site.run(MINUTE_MS, () => 20);
    }
    expect(site.alarms).toHaveLength(1);
    expect(site.known.alarm).not.toBeNull();
  });

  test('that is followed by short bursts of 14 requests a second on average is over all the same', () => {
    const site = new Site(10);
    site.run(HOUR_MS, () => 5);
    site.run(4 * SECOND_MS, () => 1000);
    const ends: boolean[] = [];
    for (let burst = 0; burst < 10; burst++) {
      const begin = site.now;
      site.run(148 * SECOND_MS, (at) => (at < begin + 4 * SECOND_MS ? 500 : 5));
      ends.push(site.known.alarm === null);
    }
    expect(ends).toContain(true);
  });

  test('in pulses of one step is an alarm, and lasts as long as they do, however many steps they are apart', () => {
    for (const apart of [2, 4, 7, 10]) {
      const site = new Site(apart);
      site.run(HOUR_MS, () => 5);
      const begin = site.now;
      const pulses: Rate = (at) => (Math.floor((at - begin) / STEP_MS) % apart === 0 ? 1000 * apart : 5);
      site.run(20 * MINUTE_MS, (at) => (at < begin ? 5 : pulses(at)));
      expect(site.alarms, `${apart} steps apart`).toHaveLength(1);
      expect(site.alarms[0]! - begin).toBeLessThanOrEqual((apart + 4) * STEP_MS + REPORTED_AFTER_MS);
      expect(site.known.alarm).not.toBeNull();
      expect(site.known.usual.rate).toBeLessThan(20);
    }
  });

  test('after a small attack that was held is an alarm of its own, once', () => {
    const site = new Site(11);
    site.run(HOUR_MS, () => 5);
    site.run(10 * MINUTE_MS, () => 150);
    const small = site.known.alarm!;
    expect(small).not.toBeNull();
    const begin = site.now;
    site.run(10 * MINUTE_MS, () => 1000);
    const large = site.known.alarm!;
    expect(large.since).toBeGreaterThan(begin);
    expect(large.since - begin).toBeLessThanOrEqual(12 * SECOND_MS);
    expect(large.rate).toBeGreaterThan(500);
    site.run(4 * MINUTE_MS, () => 5);
    expect(site.known.alarm).toBeNull();
  });

  test('that rises within its first minute is one alarm', () => {
    const site = new Site(12);
    site.run(HOUR_MS, () => 5);
    const begin = site.now;
    site.run(10 * MINUTE_MS, (at) => 5 + Math.min(1, Math.max(0, at - begin) / (40 * SECOND_MS)) * 20_000);
    expect(site.known.alarm!.since - begin).toBeLessThanOrEqual(15 * SECOND_MS);
  });

  test('that has come to stay ends its alarm within a day', () => {
    const site = new Site(7);
    site.run(HOUR_MS, () => 20);
    site.run(24 * HOUR_MS, () => 1000);
    expect(site.known.alarm).toBeNull();
    expect(site.alarms).toHaveLength(1);
  });
});

test('a burst that is told late is one alarm, which is over when nobody comes', () => {
  const begin = 1000 * HOUR_MS;
  const steps = new Map<number, TrafficStep>();
  let known = watchedFrom(begin);
  const begun = new Set<number>();
  let now = begin;
  const look = (forMs: number): void => {
    for (const until = now + forMs; now < until; now += STEP_MS) {
      known = watch(known, steps, MINIMUM_RATE, now);
      if (known.alarm) begun.add(known.alarm.since);
    }
  };
  look(HOUR_MS);
  for (const back of [6, 7]) {
    const step = Math.floor(now / STEP_MS) - back;
    const requests = 5000;
    steps.set(step, {
      step,
      requests,
      refused: 0,
      originResponses: requests,
      originErrors: 0,
      originMs: 100 * requests,
    });
  }
  look(HOUR_MS);
  expect({ alarms: begun.size, last: known.alarm }).toEqual({ alarms: 1, last: null });
});

test('an alarm that was stored in an earlier form begins anew if it lasts', () => {
  const known = watchedFrom(0);
  const { unrest, ...earlier } = { ...known, alarm: { since: 0, reason: 'requests', rate: 400, usualRate: 5 } };
  expect(unrest).toBe(0);
  expect(watchedIn(JSON.stringify(earlier))).toEqual(known);
  expect(watchedIn(JSON.stringify(known))).toEqual(known);
});

test('a single burst of a thousand requests in two seconds is no alarm', () => {
  const site = new Site(13);
  site.run(HOUR_MS, () => 5);
  const begin = site.now;
  site.run(10 * MINUTE_MS, (at) => (at >= begin && at < begin + STEP_MS ? 500 : 5));
  expect(site.alarms).toEqual([]);
});

describe('three times the usual is an alarm', () => {
  const usual = 60;
  const after = (parts: Parameters<Site['run']>[2], rate: Rate = () => 3 * usual): Site => {
    const site = new Site(8);
    site.run(HOUR_MS, () => usual);
    site.run(MINUTE_MS, rate, parts);
    return site;
  };

  test.each([
    ['most of it is refused', { refused: 0.8 }, 'refused'],
    ['the origin fails', { errors: 0.7 }, 'origin-errors'],
    ['the origin is slow', { originMs: 3000 }, 'origin-latency'],
  ])('when %s', (_, parts, reason) => {
    expect(after(parts).known.alarm?.reason).toBe(reason);
    expect(after({}).known.alarm).toBeNull();
  });

  test('and not when as much as usual comes', () => {
    for (const parts of [{ refused: 0.8 }, { errors: 0.7 }, { originMs: 3000 }]) {
      expect(after(parts, () => usual).alarms).toEqual([]);
    }
  });
});
