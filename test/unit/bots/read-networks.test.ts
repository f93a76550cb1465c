import { describe, expect, test } from 'vitest';
import {
  NETWORKS_MAX,
  isLargeChange,
  networksErrorText,
  readNetworks,
} from '../../../src/bots/ranges/read-networks.ts';
import { expectRows } from '../../support/rows.ts';

const google = (...prefixes: unknown[]): string => JSON.stringify({ creationTime: '2026-11-01', prefixes });
const read = (body: string, form: Parameters<typeof readNetworks>[1] = { form: 'prefixes' }) =>
  readNetworks(body, form);

describe('a published list of networks', () => {
  test('is read in each of the forms that operators use', () => {
    const wanted = { ok: true, value: ['157.55.39.0/24', '2620:1ec:8f8::/46'] };
    const both = ['157.55.39.0/24', '2620:1ec:8f8::/46'];
    expect(read(google({ ipv4Prefix: both[0] }, { ipv6Prefix: both[1] }))).toEqual(wanted);
    expect(read(google({ ipv4Prefix: both[0], ipv6Prefix: both[1], service: 'x' }))).toEqual(wanted);
    expect(read(JSON.stringify(both), { form: 'list' })).toEqual(wanted);
    expect(
      read(JSON.stringify({ a: { four: [both[0]], six: [both[1]] } }), { form: 'list', members: ['a.four', 'a.six'] }),
    ).toEqual(wanted);
    expect(read(`\uFEFF# probes\r\n${both.join('\r\n')} # new\r\n\r\n`, { form: 'text' })).toEqual(wanted);
    expect(read(`# feed\n${both[0]},IE,IE-L,Dublin,\n${both[1]},US,,,\n`, { form: 'geofeed' })).toEqual(wanted);
  });

  test('gives each network once, in one spelling, sorted, and an address as a network of one', () => {
    const body = '20.1.2.3\n157.55.39.7/24\n::ffff:20.1.2.3\n157.55.39.0/24\n2620:01EC:08F8::/46\n2620:1ec::1\n';
    expect(read(body, { form: 'text' })).toEqual({
      ok: true,
      value: ['157.55.39.0/24', '20.1.2.3/32', '2620:1ec:8f8::/46', '2620:1ec::1/128'],
    });
  });

  const good = '157.55.39.0/24';
  test('is refused whole when it has anything but public networks', () =>
    expectRows<[string, string, Parameters<typeof read>[1], string]>(
      [
        ['a web page', '<!doctype html><title>404</title>', { form: 'text' }, 'is-html'],
        ['a web page instead of JSON', ' \n<html>', { form: 'prefixes' }, 'is-html'],
        ['nothing', ' \r\n ', { form: 'text' }, 'is-empty'],
        ['comments only', '# none\n# today', { form: 'text' }, 'is-empty'],
        ['an empty list', google(), { form: 'prefixes' }, 'is-empty'],
        ['JSON that is cut', google({ ipv4Prefix: good }).slice(0, -3), { form: 'prefixes' }, 'not-json'],
        ['another document', '{"error":"gone"}', { form: 'prefixes' }, 'other-form'],
        [
          'an entry of another form',
          google({ ipv4Prefix: good }, { prefix: good }),
          { form: 'prefixes' },
          'other-form',
        ],
        ['a number as a network', google({ ipv4Prefix: 7 }), { form: 'prefixes' }, 'other-form'],
        ['a list that is elsewhere', '{"b":[]}', { form: 'list', members: ['a'] }, 'other-form'],
        ['a member that every object has', '{}', { form: 'list', members: ['constructor.name'] }, 'other-form'],
        ['one line that is no network', `${good}\nnot found`, { form: 'text' }, 'no-network'],
        ['an address with a wrong length', '157.55.39.0/33', { form: 'text' }, 'no-network'],
        ['everything', `${good}\n0.0.0.0/0`, { form: 'text' }, 'too-wide'],
        ['everything in IPv6', `${good}\n::/0`, { form: 'text' }, 'too-wide'],
        ['half of the internet', '128.0.0.0/7', { form: 'text' }, 'too-wide'],
        ['an IPv6 network of a continent', '2600::/12', { form: 'text' }, 'too-wide'],
        ['a private network', `${good}\n10.1.0.0/16`, { form: 'text' }, 'reserved'],
        ['a network that contains a private one', '192.160.0.0/11', { form: 'text' }, 'reserved'],
        ['the loopback address', '127.0.0.1', { form: 'text' }, 'reserved'],
        ['a documentation network', '192.0.2.0/24', { form: 'text' }, 'reserved'],
        ['local addresses of IPv6', 'fd00::/32', { form: 'text' }, 'reserved'],
        ['the loopback address of IPv6', '::1', { form: 'text' }, 'reserved'],
        ['documentation in IPv6', '2001:db8::/48', { form: 'text' }, 'reserved'],
      ],
      ([, body, form, kind]) => {
        const result = read(body, form);
        expect(result).toMatchObject({ ok: false, error: { kind } });
        if (!result.ok) expect(networksErrorText(result.error)).toMatch(/^[A-Z].{5,140}$/);
      },
    ));

  test('is refused when it has more networks than an operator can have', () => {
    const many = Array.from({ length: NETWORKS_MAX + 1 }, (_, i) => `20.${i >> 8}.${i & 255}.0/24`);
    expect(read(many.join('\n'), { form: 'text' })).toMatchObject({ ok: false, error: { kind: 'too-many' } });
    expect(read(JSON.stringify(many), { form: 'list' })).toMatchObject({ ok: false, error: { kind: 'too-many' } });
    expect(read(many.slice(1).join('\n'), { form: 'text' }).ok).toBe(true);
  });
});

describe('a change of a list', () => {
  const known = ['a', 'b', 'c', 'd'];
  test('is large when more than half goes or comes', () => {
    expect(isLargeChange(known, ['a', 'b'])).toBe(false);
    expect(isLargeChange(known, ['a'])).toBe(true);
    expect(isLargeChange(known, [...known, 'e', 'f'])).toBe(false);
    expect(isLargeChange(known, [...known, 'e', 'f', 'g'])).toBe(true);
    expect(isLargeChange(known, ['w', 'x', 'y', 'z'])).toBe(true);
  });

  test('is never large when nothing was known', () => {
    expect(isLargeChange([], known)).toBe(false);
  });
});
