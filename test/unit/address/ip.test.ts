import { describe, expect, test } from 'vitest';
import { formatCidr, formatIp, parseCidr, parseIp, prefixOf } from '../../../src/address/ip.ts';
import { expectRows } from '../../support/rows.ts';

const spelled = (text: string): string | null => {
  const ip = parseIp(text);
  return ip && formatIp(ip);
};
const spelledPrefix = (text: string): string | null => {
  const prefix = parseCidr(text);
  return prefix && formatCidr(prefix);
};

describe('an address', () => {
  test('has one canonical form', () =>
    expectRows(
      [
        ['0.0.0.0', '0.0.0.0'],
        ['255.255.255.255', '255.255.255.255'],
        ['192.0.2.7', '192.0.2.7'],
        ['::', '::'],
        ['::1', '::1'],
        ['1::', '1::'],
        ['2001:DB8::A', '2001:db8::a'],
        ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
        ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
        ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
        ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
        ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
        ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
        ['ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
      ],
      ([text, canonical]) => {
        expect(spelled(text)).toBe(canonical);
      },
    ));

  test.each(['::ffff:192.0.2.7', '::FFFF:c000:0207', '0:0:0:0:0:ffff:192.0.2.7'])(
    '%s, being mapped, is the IPv4 address',
    (text) => {
      expect(spelled(text)).toBe('192.0.2.7');
    },
  );

  test('that is not mapped stays IPv6', () =>
    expectRows(['2002:c000:207::', '::192.0.2.7', '::fffe:192.0.2.7', '64:ff9b::c000:207'], (text) => {
      expect(parseIp(text)?.family).toBe(6);
    }));

  test('is refused when it is malformed', () =>
    expectRows(
      [
        ['nothing', ''],
        ['shorthand', '1.2.3'],
        ['one number', '16909060'],
        ['hex', '0x7f.0.0.1'],
        ['an octal-looking octet', '1.2.3.04'],
        ['a double zero', '00.0.0.0'],
        ['an octet over 255', '1.2.3.256'],
        ['five octets', '1.2.3.4.5'],
        ['an empty octet', '1..2.3'],
        ['a trailing dot', '1.2.3.4.'],
        ['a leading space', ' 1.2.3.4'],
        ['a trailing newline', '1.2.3.4\n'],
        ['a sign', '+1.2.3.4'],
        ['full-width digits', '１.2.3.4'],
        ['a prefix length', '1.2.3.4/32'],
        ['a port', '1.2.3.4:80'],
        ['brackets', '[::1]'],
        ['a zone id', 'fe80::1%eth0'],
        ['two gaps', '1::2::3'],
        ['three colons', '1234:::5678'],
        ['a lone colon', ':'],
        ['a trailing colon', '1:2:3:4:5:6:7:'],
        ['a leading colon', ':1:2:3:4:5:6:7'],
        ['five digits', '12345::'],
        ['nine groups', '1:2:3:4:5:6:7:8:9'],
        ['a gap of nothing', '1:2:3:4::5:6:7:8'],
        ['seven groups', '1:2:3:4:5:6:7'],
        ['a bad dotted tail', '::01.2.3.4'],
        ['a dotted tail too early', '1:2:3:4:5:6:7:1.2.3.4'],
        ['a dotted middle', '::1.2.3.4:5'],
        ['a letter too many', '::g'],
        ['a long run', ':'.repeat(4000)],
      ],
      ([, text]) => {
        expect(parseIp(text)).toBeNull();
      },
    ));
});

describe('a prefix', () => {
  test('has one canonical form', () =>
    expectRows(
      [
        ['192.0.2.7/24', '192.0.2.0/24'],
        ['255.255.255.255/0', '0.0.0.0/0'],
        ['192.0.2.7/31', '192.0.2.6/31'],
        ['192.0.2.7/32', '192.0.2.7/32'],
        ['2001:db8::ffff/127', '2001:db8::fffe/127'],
        ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
        ['ffff::/0', '::/0'],
        ['::1/128', '::1/128'],
        ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
        ['::ffff:0:0/96', '0.0.0.0/0'],
        ['::ffff:0:0/95', '::fffe:0:0/95'],
      ],
      ([text, canonical]) => {
        expect(spelledPrefix(text)).toBe(canonical);
      },
    ));

  test('is refused when it is malformed', () =>
    expectRows(
      [
        '192.0.2.0',
        '192.0.2.0/',
        '192.0.2.0/33',
        '192.0.2.0/024',
        '192.0.2.0/+24',
        '192.0.2.0/2 4',
        '192.0.2.0/-1',
        '192.0.2/24',
        '::/129',
        '::ffff:1.2.3.4/129',
        '192.0.2.0/24/24',
        '192.0.2.0/255.255.255.0',
        '/24',
      ],
      (text) => {
        expect(parseCidr(text)).toBeNull();
      },
    ));

  test('that contains an address has zeros after its length', () =>
    expectRows(
      [
        ['192.0.2.200', 24, '192.0.2.0/24'],
        ['192.0.2.200', 32, '192.0.2.200/32'],
        ['192.0.2.200', 0, '0.0.0.0/0'],
        ['2001:db8:1:2:3::4', 64, '2001:db8:1:2::/64'],
        ['2001:db8:1:2:3::4', 33, '2001:db8::/33'],
      ],
      ([ip, length, prefix]) => {
        expect(formatCidr(prefixOf(parseIp(ip)!, length))).toBe(prefix);
      },
    ));
});
