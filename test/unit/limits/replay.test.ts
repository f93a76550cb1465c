/** Limits over requests of the past: the same as an edge says of what is known, and never less than it of what is not. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import type { LimitForm } from '../../../src/contract/management/policy-set/policy-set-form.ts';
import { compileLimits } from '../../../src/edge/config/compiled-limits.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Limits, firedOf, strictest } from '../../../src/edge/limits/limits.ts';
import { limitKeys, type KeySource } from '../../../src/limits/limit-keys.ts';
import {
  LimitReplay,
  isUncertain,
  type Replayed,
  type ReplayedKey,
  type ReplayedUse,
} from '../../../src/limits/replay.ts';
import { runs } from '../../support/properties.ts';

const mac = new HmacSha256(new Uint8Array(32).fill(9));
const visitor: KeySource = {
  ip: null,
  asn: null,
  country: null,
  ja4: null,
  session: null,
  bot: null,
  path: '/',
  host: 'shop.example',
  header: () => null,
  cookie: () => null,
  users: [],
};
interface Asked {
  ip: string;
  apiKey: string;
  afterMs: number;
}
const asked: fc.Arbitrary<Asked> = fc.record({
  ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '198.51.100.1', '2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1'),
  apiKey: fc.constantFrom('a', 'b', 'c'),
  afterMs: fc.integer({ min: 0, max: 900 }),
});
const limitOf = (name: string, changes: Partial<LimitForm>): LimitForm => ({
  name,
  key: ['ip'],
  count: 2,
  windowSeconds: 2,
  algorithm: 'sliding',
  on: 'request',
  then: '429',
  exact: false,
  mode: 'enforce',
  ...changes,
});
const limitChanges = fc.record({
  key: fc.constantFrom<string[]>(['ip'], ['prefix'], ['header:x-api-key'], ['ip', 'header:x-api-key']),
  count: fc.integer({ min: 1, max: 4 }),
  windowSeconds: fc.integer({ min: 1, max: 4 }),
  algorithm: fc.constantFrom('sliding' as const, 'bucket' as const),
  then: fc.constantFrom('429' as const, 'challenge' as const, 'block' as const),
  mode: fc.constantFrom('enforce' as const, 'monitor' as const),
});
const twoLimits = fc.tuple(limitChanges, limitChanges).map((both) => both.map((one, at) => limitOf(`l${at}`, one)));

const sourceOf = ({ ip }: Asked, apiKey: string): KeySource => ({ ...visitor, ip, header: () => apiKey });

function keysOf(limit: LimitForm, from: KeySource): ReplayedKey[] {
  const { own, wider } = limitKeys(limit, from, (text) => mac.sign(text));
  return [...own.map((key) => ({ key, times: 1, isOwn: true })), ...wider.map((key) => ({ ...key, isOwn: false }))];
}

function useOf(limits: readonly LimitForm[], at: number, one: Asked, isKeyKnown: boolean): ReplayedUse {
  const limit = limits[at]!;
  const possible = keysOf(limit, sourceOf(one, isKeyKnown ? one.apiKey : 'x'));
  const others = isKeyKnown ? possible : keysOf(limit, sourceOf(one, 'y'));
  const known = possible.filter(({ key }) => others.some((other) => other.key === key));
  return { limit: at, isAsked: true, known, possible, adds: 'yes' };
}

function replayed(limits: readonly LimitForm[], requests: readonly Asked[], isKeyKnown: boolean): Replayed[][] {
  const open = isKeyKnown ? [] : limits.flatMap(({ key }, at) => (key.includes('header:x-api-key') ? [at] : []));
  const replay = new LimitReplay(limits, new Set(open));
  let nowMs = 1_800_000_000_000;
  return requests.map((one) => {
    nowMs += one.afterMs;
    return replay.play(
      limits.map((_, at) => useOf(limits, at, one, isKeyKnown)),
      nowMs,
    );
  });
}

test('what is known is decided as an edge decides it', async () => {
  await fc.assert(
    fc.asyncProperty(twoLimits, fc.array(asked, { maxLength: 60 }), async (limits, requests) => {
      const clock = { nowMs: 1_800_000_000_000 };
      const ports = { now: () => clock.nowMs, sleep: async () => {}, count: () => {} };
      const counts = new LimitCounts({ ...ports, report: null });
      const edge = new Limits(counts, null, () => {}, ports.now);
      const { byName, sign } = compileLimits(limits, mac);
      const expected: string[][] = [];
      for (const one of requests) {
        clock.nowMs += one.afterMs;
        const source = sourceOf(one, one.apiKey);
        const counted = [...byName.values()].map((limit) => ({ limit, keys: limitKeys(limit, source, sign) }));
        const above = await edge.ask(
          counted,
          (found) => strictest(found) !== null,
          () => {},
        );
        const fired = new Set(firedOf(above).map(({ id }) => id));
        expected.push(limits.map(({ name }) => (fired.has(`limit:${name}`) ? 'above' : 'within')));
      }
      expect(replayed(limits, requests, true)).toEqual(expected);
    }),
    { numRuns: runs(200) },
  );
});

test('whatever an unknown part was, no request is refused that is not above, or untold', () => {
  fc.assert(
    fc.property(limitChanges, fc.array(asked, { maxLength: 60 }), (changes, requests) => {
      const limits = [limitOf('l', changes)];
      const truth = replayed(limits, requests, true).flat();
      const told = replayed(limits, requests, false).flat();
      truth.forEach((said, at) => {
        if (said === 'above') expect(told[at]).not.toBe('within');
      });
    }),
    { numRuns: runs(300) },
  );
});

test('an exact limit never lets more than its count through in any window', () => {
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 80 }), fc.integer({ min: 1, max: 5 }), (requests, count) => {
      const limit = limitOf('l', { exact: true, count });
      const said = replayed([limit], requests, true).flat();
      const passed = new Map<string, number[]>();
      let nowMs = 0;
      requests.forEach((one, at) => {
        nowMs += one.afterMs;
        if (one.ip.includes(':')) return;
        const times = passed.get(one.ip) ?? [];
        const inWindow = times.filter((time) => time > nowMs - 2000).length;
        expect(said[at]).toBe(inWindow < count ? 'within' : 'above');
        if (said[at] === 'within') passed.set(one.ip, [...times, nowMs]);
      });
    }),
  );
});

test('a response or a policy that is not known makes a request untold, and never above', () => {
  const limits = [limitOf('l', { count: 1 })];
  const one = { ip: '192.0.2.1', apiKey: 'a', afterMs: 0 };
  const sure = useOf(limits, 0, one, true);
  const play = (...uses: ReplayedUse[]) => {
    const replay = new LimitReplay(limits, new Set([0]));
    return uses.map((use) => replay.play([use], 0)[0]);
  };
  expect(play(sure, sure, { ...sure, isAsked: false })).toEqual(['within', 'above', 'untold']);
  expect(play({ ...sure, isAsked: false }, sure)).toEqual(['within', 'untold']);
  expect(play({ ...sure, adds: 'unknown' }, sure)).toEqual(['within', 'untold']);
  expect(play({ ...sure, adds: 'no' }, sure, sure)).toEqual(['within', 'within', 'above']);
  expect(play({ ...sure, adds: 'elsewhere' })).toEqual(['untold']);
});

const useOfKey = (key: string, changes: Partial<ReplayedUse> = {}): ReplayedUse => {
  const keys = [{ key, times: 1, isOwn: true }];
  return { limit: 0, isAsked: true, known: keys, possible: keys, adds: 'yes', ...changes };
};

test('a limit by user says nothing of a request that another limit stops', () => {
  const limits = [limitOf('first', { count: 1 }), limitOf('second', { key: ['user'], count: 1 })];
  const replay = new LimitReplay(limits, new Set());
  const uses = [useOfKey('a'), useOfKey('b', { limit: 1 })];
  expect(replay.play(uses, 0)).toEqual(['within', 'within']);
  // Both are full, and the first alone is asked.
  expect(replay.play(uses, 1)).toEqual(['above', 'within']);
  expect(replay.play([uses[1]!], 2)).toEqual(['above']);
});

test('refused requests leave nothing untold where all of them are known', () => {
  const replay = new LimitReplay([limitOf('exact', { count: 1, windowSeconds: 60, exact: true })], new Set([0]));
  const at = (seconds: number, changes: Partial<ReplayedUse> = {}) =>
    replay.play([useOfKey('a', changes)], seconds * 1000);
  // The second one is refused, so it does not count, although it lies within the minute before the third.
  expect([at(0), at(30), at(61)]).toEqual([['within'], ['above'], ['within']]);
  // One that may not have asked counts among what is possible.
  expect([at(200, { isAsked: false }), at(210)]).toEqual([['within'], ['untold']]);
});

test('a use is open when anything of it is not known', () => {
  expect(isUncertain(useOfKey('a'))).toBe(false);
  expect(isUncertain(useOfKey('a', { adds: 'no' }))).toBe(false);
  for (const changes of [{ isAsked: false }, { adds: 'unknown' }, { adds: 'elsewhere' }, { known: [] }] as const) {
    expect(isUncertain(useOfKey('a', changes)), JSON.stringify(changes)).toBe(true);
  }
});
