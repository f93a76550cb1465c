/** Difficult cases of address rules. General ones are in `test/property/rules`. */
import { describe, expect, test } from 'vitest';
import { formatV4 } from '../../../src/address/ip.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { firedIds, match, rulesetOf } from './rulesets.ts';

const mask = (value: string, verdict: EdgeRule['verdict'] = 'block'): EdgeRule => ({ type: 'ipMask', value, verdict });
const single = (value: string, verdict: EdgeRule['verdict'] = 'block'): EdgeRule => ({ type: 'ip', value, verdict });

describe('an address rule', () => {
  test('0.0.0.0/0 contains every IPv4 address and no IPv6 address', () => {
    const ruleset = rulesetOf([mask('0.0.0.0/0')]);
    for (const ip of ['0.0.0.0', '127.0.0.1', '128.0.0.0', '255.255.255.255', '::ffff:1.2.3.4']) {
      expect(firedIds(ruleset, { ip })).toEqual(['ipMask:0.0.0.0/0']);
    }
    for (const ip of ['::', '::1', '2002:102:304::', 'ffff::']) expect(firedIds(ruleset, { ip })).toEqual([]);
  });

  test('::/0 contains every IPv6 address, 6to4 included, and no IPv4 address, mapped or not', () => {
    const ruleset = rulesetOf([mask('::/0')]);
    for (const ip of ['::', '2002:102:304::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']) {
      expect(firedIds(ruleset, { ip })).toEqual(['ipMask:::/0']);
    }
    for (const ip of ['1.2.3.4', '::ffff:1.2.3.4', '::ffff:0:0']) expect(firedIds(ruleset, { ip })).toEqual([]);
  });

  test('with length 31 or 127 contains two addresses', () => {
    const ruleset = rulesetOf([mask('192.0.2.6/31'), mask('2001:db8::6/127')]);
    const held = (ip: string): boolean => firedIds(ruleset, { ip }).length === 1;
    expect(['192.0.2.5', '192.0.2.6', '192.0.2.7', '192.0.2.8'].map(held)).toEqual([false, true, true, false]);
    expect(['2001:db8::5', '2001:db8::6', '2001:db8::7', '2001:db8::8'].map(held)).toEqual([false, true, true, false]);
  });

  test('for an address and one for its /32 or /128 are two rules, the address first', () => {
    const ruleset = rulesetOf([
      mask('192.0.2.7/32', 'block'),
      single('192.0.2.7', 'allow'),
      single('2001:db8::7', 'allow'),
      mask('2001:db8::7/128', 'block'),
    ]);
    expect(firedIds(ruleset, { ip: '192.0.2.7' })).toEqual(['ip:192.0.2.7', 'ipMask:192.0.2.7/32']);
    expect(firedIds(ruleset, { ip: '2001:db8::7' })).toEqual(['ip:2001:db8::7', 'ipMask:2001:db8::7/128']);
    expect(match(ruleset, { ip: '192.0.2.7' }).network?.verdict).toBe('allow');
  });

  test('matches every spelling of an address, and no visitor without a valid address', () => {
    const ruleset = rulesetOf([single('192.0.2.7'), single('2001:db8::a'), mask('0.0.0.0/0'), mask('::/0')]);
    for (const ip of ['::ffff:192.0.2.7', '::FFFF:C000:207']) expect(firedIds(ruleset, { ip })[0]).toBe('ip:192.0.2.7');
    expect(firedIds(ruleset, { ip: '2001:0DB8:0:0::000A' })[0]).toBe('ip:2001:db8::a');
    for (const ip of ['192.0.2.07', '192.0.519', '', 'unknown', '2001:db8::a%1'])
      expect(firedIds(ruleset, { ip })).toEqual([]);
  });

  const nested = [
    mask('10.0.0.0/8', 'allow'),
    mask('10.1.0.0/16', 'block'),
    mask('10.1.2.0/24', 'challenge'),
    single('10.1.2.3', 'allow'),
  ];
  const adjacent = [mask('10.1.1.0/24', 'allow'), mask('10.1.3.0/24', 'allow')];
  test.each([
    ['outermost first', [...nested, ...adjacent]],
    ['innermost first', [...adjacent, ...nested].toReversed()],
  ])('for nested and adjacent ranges gives the same result when added %s', (_, rules) => {
    const ruleset = rulesetOf(rules);
    const decider = (ip: string): string | undefined => match(ruleset, { ip }).network?.id;
    expect(decider('10.1.2.3')).toBe('ip:10.1.2.3');
    expect(decider('10.1.2.4')).toBe('ipMask:10.1.2.0/24');
    expect(decider('10.1.3.255')).toBe('ipMask:10.1.3.0/24');
    expect(decider('10.1.4.0')).toBe('ipMask:10.1.0.0/16');
    expect(decider('10.2.0.0')).toBe('ipMask:10.0.0.0/8');
    expect(decider('11.0.0.0')).toBeUndefined();
    expect(firedIds(ruleset, { ip: '10.1.2.3' })).toEqual([
      'ip:10.1.2.3',
      'ipMask:10.1.2.0/24',
      'ipMask:10.1.0.0/16',
      'ipMask:10.0.0.0/8',
    ]);
  });

  test('is found among 200,000 nested /32 in one /8', () => {
    const first = 0x0a000000;
    const rules = [mask('10.0.0.0/8', 'challenge')];
    for (let i = 0; i < 200_000; i++)
      rules.push(mask(`${formatV4(first + i * 80)}/32`, i % 2 === 0 ? 'block' : 'allow'));
    const ruleset = rulesetOf(rules);
    expect(ruleset.ruleCount).toBe(200_001);
    for (const i of [0, 1, 2, 65_535, 65_536, 131_071, 199_999]) {
      const ip = formatV4(first + i * 80);
      expect(firedIds(ruleset, { ip })).toEqual([`ipMask:${ip}/32`, 'ipMask:10.0.0.0/8']);
      expect(match(ruleset, { ip }).network?.verdict).toBe(i % 2 === 0 ? 'block' : 'allow');
      expect(firedIds(ruleset, { ip: formatV4(first + i * 80 + 1) })).toEqual(['ipMask:10.0.0.0/8']);
    }
  });

  test('for each of many nested lengths fires, from the longest to the shortest', () => {
    const v4 = Array.from({ length: 33 }, (_, length) => mask(`0.0.0.0/${length}`));
    const v6 = Array.from({ length: 129 }, (_, length) => mask(`::/${length}`));
    const ruleset = rulesetOf([...v4, ...v6]);
    expect(firedIds(ruleset, { ip: '0.0.0.0' })).toEqual(v4.map(({ value }) => `ipMask:${value}`).toReversed());
    expect(firedIds(ruleset, { ip: '::' })).toEqual(v6.map(({ value }) => `ipMask:${value}`).toReversed());
    expect(firedIds(ruleset, { ip: '0.0.0.1' })).toHaveLength(32);
    expect(firedIds(ruleset, { ip: '::1:0:0:0' })).toHaveLength(80);
  });
});
