import { describe, expect, test } from 'vitest';
import type { EdgeRule, MatchSignals } from '../../../src/rules/types.ts';
import { deltaOf, firedIds, match, rulesetOf, snapshotOf } from './rulesets.ts';
import { createRuleset } from '../../../src/rules/ruleset.ts';
import { expectRows } from '../../support/rows.ts';

const JA4 = 't13d1516h2_8daaf6152771_02713d6af862';
const ip: EdgeRule = { type: 'ip', value: '192.0.2.7', verdict: 'block' };
const mask: EdgeRule = { type: 'ipMask', value: '192.0.2.0/24', verdict: 'allow' };
const asn: EdgeRule = { type: 'asn', value: '64496', verdict: 'challenge' };
const country: EdgeRule = { type: 'countryCode', value: 'DE', verdict: 'block' };
const ja4: EdgeRule = { type: 'ja4Hash', value: JA4, verdict: 'challenge' };
const userAgent: EdgeRule = { type: 'userAgent', value: 'curl', verdict: 'block' };
const all = [ip, mask, asn, country, ja4, userAgent];

const visitor: Partial<MatchSignals> = {
  ip: '192.0.2.7',
  asn: 64_496,
  countryCode: 'DE',
  ja4: JA4,
  userAgent: 'curl/8',
};

describe('a ruleset', () => {
  test('without rules matches no visitor', () => {
    const ruleset = rulesetOf([]);
    expect(ruleset.ruleCount).toBe(0);
    expect(match(ruleset, visitor)).toEqual({ network: null, client: null, fired: [] });
  });

  test('lists every match from the most to the least specific', () => {
    const ruleset = rulesetOf(all);
    expect(firedIds(ruleset, visitor)).toEqual([
      'ip:192.0.2.7',
      'ipMask:192.0.2.0/24',
      'asn:64496',
      'countryCode:DE',
      `ja4Hash:${JA4}`,
      'userAgent:curl',
    ]);
    expect(match(ruleset, visitor).network?.id).toBe('ip:192.0.2.7');
    expect(match(ruleset, visitor).client?.id).toBe('userAgent:curl');
  });

  test('ignores monitored rules in the decision and still lists them', () => {
    const ruleset = rulesetOf([{ ...ip, mode: 'monitor' }, mask, { ...userAgent, mode: 'monitor' }, ja4]);
    const result = match(ruleset, visitor);
    expect(result.network?.id).toBe('ipMask:192.0.2.0/24');
    expect(result.client?.id).toBe(`ja4Hash:${JA4}`);
    expect(result.fired.map(({ id, mode }) => [id, mode])).toEqual([
      ['ip:192.0.2.7', 'monitor'],
      ['ipMask:192.0.2.0/24', 'enforce'],
      [`ja4Hash:${JA4}`, 'enforce'],
      ['userAgent:curl', 'monitor'],
    ]);
  });

  test('stops applying a rule in the second it expires, without a new snapshot', () => {
    const ruleset = rulesetOf([{ ...ip, expiry: 1000 }, mask]);
    expect(match(ruleset, visitor, 999).network?.id).toBe('ip:192.0.2.7');
    expect(match(ruleset, visitor, 1000)).toMatchObject({
      network: { id: 'ipMask:192.0.2.0/24' },
      fired: [{ type: 'ipMask' }],
    });
  });

  test('keeps a rule whose expiry does not fit into 32 bits of seconds', () => {
    const ruleset = rulesetOf([{ ...ip, expiry: 32_503_680_000 }]);
    expect(match(ruleset, visitor, 4_294_967_295).network?.id).toBe('ip:192.0.2.7');
  });

  test('applies a rule only to visitors inside its rollout', () =>
    expectRows(
      [
        [0, [false, false, false]],
        [0.01, [true, false, false]],
        [50, [true, true, false]],
        [100, [true, true, true]],
      ],
      ([rollout, expected]) => {
        const ruleset = rulesetOf([{ ...ip, rollout }, mask]);
        const decider = [0, 4999, 9999].map(
          (rolloutBucket) => match(ruleset, { ...visitor, rolloutBucket }).network?.type === 'ip',
        );
        expect(decider).toEqual(expected);
      },
    ));

  test('computes a rollout bucket only for a rule with a rollout', () => {
    const asked = (rules: EdgeRule[]): number => {
      let times = 0;
      const counted = {
        ip: '192.0.2.7',
        asn: null,
        countryCode: null,
        ja4: null,
        userAgent: 'curl/8',
        get rolloutBucket() {
          times++;
          return 0;
        },
      };
      rulesetOf(rules).match(counted, 0);
      return times;
    };
    // The bucket costs a hash of the header for every request that a rule matches.
    expect(asked([ip, mask, { ...userAgent, mode: 'monitor', expiry: 1000 }])).toBe(0);
    expect(asked([ip, { ...mask, rollout: 50 }])).toBe(1);
  });

  test('matches nothing by a fact that is unknown', () => {
    expect(match(rulesetOf(all), {}).fired).toEqual([]);
    expect(match(rulesetOf(all), { ja4: 'nonsense', countryCode: 'deutschland', asn: 1 }).fired).toEqual([]);
  });

  test('keeps the later of two rules with the same value', () => {
    const ruleset = rulesetOf([...all, { ...ip, verdict: 'allow', mode: 'monitor' }, { ...ip, verdict: 'challenge' }]);
    expect(ruleset.ruleCount).toBe(6);
    expect(match(ruleset, visitor).network).toEqual({
      id: 'ip:192.0.2.7',
      type: 'ip',
      verdict: 'challenge',
      mode: 'enforce',
    });
  });
});

describe('a delta', () => {
  test('replaces, adds and removes rules of every type without changing the base', () => {
    const base = snapshotOf(all);
    const replaced = all.map((rule) => ({ ...rule, verdict: 'allow' as const }));
    for (const [i, rule] of all.entries()) {
      const changed = createRuleset(base, deltaOf([replaced[i] ?? rule], []));
      expect(changed.ruleCount).toBe(6);
      expect(match(changed, visitor).fired[i]).toMatchObject({ type: rule.type, verdict: 'allow' });
      const removed = createRuleset(base, deltaOf([], [rule]));
      expect(removed.ruleCount).toBe(5);
      expect(match(removed, visitor).fired.some(({ type }) => type === rule.type)).toBe(false);
    }
    expect(match(createRuleset(base, null), visitor).fired.map(({ verdict }) => verdict)).toEqual(
      all.map(({ verdict }) => verdict),
    );
  });

  test('has a version, a base and nothing else when it is empty', () => {
    const delta = deltaOf([], []);
    const ruleset = rulesetOf(all, delta);
    expect([delta.baseVersion, delta.baseHash, delta.instanceId]).toEqual([1, 'ab'.repeat(32), 'instance']);
    expect([ruleset.version, ruleset.ruleCount, ruleset.instanceId]).toEqual([2, 6, 'instance']);
    expect(firedIds(ruleset, visitor)).toHaveLength(6);
  });

  test('orders its rules and those of the base by specificity', () => {
    const delta = deltaOf([{ type: 'ipMask', value: '192.0.2.0/28', verdict: 'block' }], []);
    expect(firedIds(rulesetOf([ip, mask, asn], delta), visitor)).toEqual([
      'ip:192.0.2.7',
      'ipMask:192.0.2.0/28',
      'ipMask:192.0.2.0/24',
      'asn:64496',
    ]);
  });

  test('may remove a rule that the base does not have', () => {
    const removals = [...all, { type: 'userAgent', value: 'nobody' } as const, { type: 'asn', value: '1' } as const];
    expect(rulesetOf([], deltaOf([], removals)).ruleCount).toBe(0);
  });
});
