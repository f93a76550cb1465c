/**
 * Damaged and hostile snapshots and deltas. The signature detects every damage (`unit/rules/signing.test.ts`). A file can
 * be hostile only if it is signed with the key; even then it cannot cause an exception, an endless loop or a read out of
 * bounds.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeDelta, openDelta } from '../../../src/rules/delta.ts';
import { createRuleset } from '../../../src/rules/ruleset.ts';
import { openSnapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule, MatchSignals } from '../../../src/rules/types.ts';
import { runs, some } from '../../support/properties.ts';
import { rulesOf } from '../../support/snapshot-rules.ts';
import { BASE_HASH, compile, deltaOf } from '../../unit/rules/rulesets.ts';

const JA4 = 't13d1516h2_8daaf6152771_02713d6af862';
const rules: EdgeRule[] = [
  { type: 'ip', value: '192.0.2.7', verdict: 'block' },
  { type: 'ipMask', value: '0.0.0.0/0', verdict: 'allow', mode: 'monitor', expiry: 5000, rollout: 12.5 },
  { type: 'ipMask', value: '2001:db8::/32', verdict: 'challenge' },
  { type: 'ip', value: '2001:db8::1', verdict: 'block', expiry: 100 },
  { type: 'asn', value: '64496', verdict: 'block' },
  { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block', list: 1 },
  { type: 'countryCode', value: 'DE', verdict: 'challenge' },
  { type: 'ja4Hash', value: JA4, verdict: 'block' },
  ...['curl', 'curious', 'bot', 'x', 'url/8', 'aaaaaab', 'яндекс', 'mozilla/5.0 (compatible; curl'].map(
    (value): EdgeRule => ({ type: 'userAgent', value, verdict: 'block' }),
  ),
  ...Array.from({ length: 200 }, (_, i): EdgeRule => ({ type: 'ip', value: `10.${i}.0.1`, verdict: 'allow' })),
];
const visitors: MatchSignals[] = ['192.0.2.7', '2001:db8::1', '10.7.0.1', '255.255.255.255', '::'].flatMap((ip) =>
  ['curl/8 aaaaaaaaaab', 'Mozilla/5.0 (compatible; curl яндекс xbot', ''].map((userAgent) => ({
    ip,
    asn: 64_496,
    countryCode: 'DE',
    ja4: JA4,
    userAgent,
    rolloutBucket: 7,
  })),
);
const lists = [{ number: 1, name: 'bad-networks', verdict: 'block' as const, mode: 'enforce' as const }];
const snapshot = compile(rules, 1, lists);
const delta = encodeDelta({
  instanceId: 'instance',
  baseHash: BASE_HASH,
  baseVersion: 1,
  version: 2,
  lists,
  upserts: rules.slice(0, 12),
  removals: rules.slice(12),
});

const words = Array.from({ length: Math.floor(snapshot.length / 4) }, (_, index) => 4 * index);
const files = { snapshot, delta };
const open = { snapshot: openSnapshot, delta: openDelta };
const kind = fc.constantFrom('snapshot' as const, 'delta' as const);

describe('a damaged file', () => {
  test('is refused with any other length', () => {
    for (const which of ['snapshot', 'delta'] as const) {
      const file = files[which];
      for (let length = 0; length < file.length; length++) {
        if (open[which](file.subarray(0, length)).ok) expect.fail(`${which} length ${length}`);
      }
      const longer = new Uint8Array(file.length + 8);
      longer.set(file);
      expect(open[which](longer).ok).toBe(false);
    }
  });

  test('is refused when it is not a file of its kind', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => !openSnapshot(bytes).ok && !openDelta(bytes).ok),
    );
    expect(openDelta(snapshot).ok).toBe(false);
    expect(openSnapshot(delta).ok).toBe(false);
  });

  test('opens the same at any place in a buffer', () => {
    for (const offset of [1, 2, 4, 7, 8]) {
      const holder = new Uint8Array(snapshot.length + offset);
      holder.set(snapshot, offset);
      const opened = openSnapshot(holder.subarray(offset));
      expect(opened.ok && opened.value.ruleCount).toBe(rules.length);
    }
  });
});

describe('a hostile file with a correct signature', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 127, 128, 254, 255))), {
    minLength: 1,
    maxLength: 6,
  });

  test('is refused or matches, and never throws or hangs', () => {
    let accepted = 0;
    fc.assert(
      fc.property(kind, damage, (which, changes) => {
        const file = files[which].slice();
        for (const [at, value] of changes) file[at % file.length] = value;
        if (which === 'delta') {
          const opened = openDelta(file);
          if (!opened.ok) return;
          const base = openSnapshot(snapshot);
          if (base.ok) for (const one of visitors) createRuleset(base.value, opened.value).match(one, 50);
        } else {
          const opened = openSnapshot(file);
          if (!opened.ok) return;
          accepted++;
          const ruleset = createRuleset(opened.value, deltaOf(rules.slice(3, 9), rules.slice(9, 12)));
          for (const one of visitors) ruleset.match(one, 50);
          expect(rulesOf(opened.value).length).toBe(opened.value.ruleCount);
        }
      }),
      { numRuns: runs(3000) },
    );
    // Otherwise the test covers refusals only.
    expect(accepted / runs(3000)).toBeGreaterThan(0.017);
  });

  test('is refused or matches with any of its words set to an extreme', () => {
    for (const extreme of [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
      for (const at of some(words)) {
        const file = snapshot.slice();
        new DataView(file.buffer).setUint32(at, extreme, true);
        const opened = openSnapshot(file);
        if (!opened.ok) continue;
        const ruleset = createRuleset(opened.value, null);
        for (const one of visitors.slice(0, 4)) ruleset.match(one, 50);
      }
    }
  });
});
