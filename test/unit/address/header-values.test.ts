/** What headers name: AS numbers, countries, hosts and devices. */
import { describe, expect, test } from 'vitest';
import { asnDigits, canonicalAsn } from '../../../src/address/asn.ts';
import { countryCodes } from '../../../src/address/country-codes.ts';
import { canonicalCountry, canonicalIp, parseCidr, readIp } from '../../../src/address/ip.ts';
import { deviceType } from '../../../src/address/device-type.ts';
import { hostName } from '../../../src/address/host-name.ts';
import { isReserved, reservedFirstOctets } from '../../../src/address/reserved.ts';
import { expectRows } from '../../support/rows.ts';

describe('an AS number', () => {
  test('has one canonical number for its texts, the second time as well', () =>
    expectRows<[string | null, number | null]>(
      [
        ['64496', 64_496],
        ['AS64496', 64_496],
        ['as1', 1],
        ['4294967295', 4_294_967_295],
        ['4294967296', null],
        ['12345678901', null],
        ['0', null],
        ['AS0', null],
        ['064496', null],
        ['x64496', null],
        ['64496x', null],
        ['', null],
        [null, null],
      ],
      ([text, asn]) => {
        expect([canonicalAsn(text), canonicalAsn(text)]).toEqual([asn, asn]);
      },
    ));

  test('may be zero in a rule', () => {
    expect(asnDigits('AS0')).toBe('0');
  });
});

describe('a country', () => {
  test('that a header names has a canonical code or none', () =>
    expectRows<[string | null, string | null]>(
      [
        ['de', 'DE'],
        ['T1', 'T1'],
        ['t1', 'T1'],
        ['T2', null],
        ['DEU', null],
        ['xT1', null],
        ['D', null],
        ['', null],
        [null, null],
      ],
      ([text, code]) => {
        expect(canonicalCountry(text)).toBe(code);
      },
    ));

  test('of a rule is one that ISO assigns, Tor or unknown', () => {
    expect(countryCodes.size).toBe(249 + 2);
    expect([...countryCodes].every((code) => /^(?:[A-Z]{2}|T1)$/.test(code))).toBe(true);
    for (const code of ['AD', 'BZ', 'CA', 'DE', 'IT', 'JE', 'MO', 'PY', 'QA', 'TO', 'TR', 'ZW', 'T1', 'XX']) {
      expect(countryCodes.has(code), code).toBe(true);
    }
    for (const code of ['UK', 'EN', 'ZZ']) expect(countryCodes.has(code), code).toBe(false);
  });
});

test('the name of a host is in lower case, without its port and one last dot', () =>
  expectRows(
    [
      ['Example.COM', 'example.com'],
      ['example.com.', 'example.com'],
      ['example.com:8443', 'example.com'],
      ['example.com.:8443', 'example.com'],
      ['example.com..', 'example.com.'],
      ['[2001:DB8::1]', '[2001:db8::1]'],
      ['[2001:db8::1]:8443', '[2001:db8::1]'],
      ['192.0.2.1:80', '192.0.2.1'],
      ['a.b:80.c', 'a.b:80.c'],
    ],
    ([host, name]) => {
      expect(hostName(host)).toBe(name);
    },
  ));

describe('a device', () => {
  const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101';
  test('is read from the user agent and the hint, the second time as well', () =>
    expectRows<[string, string | null, string]>(
      [
        [DESKTOP, null, 'desktop'],
        [DESKTOP, '?0', 'desktop'],
        [DESKTOP, '?1', 'mobile'],
        ['Mozilla/5.0', null, 'unknown'],
        ['Mozilla/5.0', '?0', 'unknown'],
        ['Mozilla/5.0', '?1', 'mobile'],
        ['Mozilla/5.0 (iPad; CPU OS 17)', null, 'tablet'],
        ['Mozilla/5.0 (iPad; CPU OS 17)', '?1', 'tablet'],
        ['Mozilla/5.0 (Linux; Android 14)', null, 'tablet'],
        ['Mozilla/5.0 (Linux; Android 14) Mobile Safari', null, 'mobile'],
        ['Mozilla/5.0 (iPhone)', null, 'mobile'],
        ['curl/8.0', null, 'bot'],
        ['curl/8.0', '?1', 'bot'],
        ['ExampleBot/1.0 (iPhone)', null, 'bot'],
        [`${' '.repeat(512)}iPhone`, null, 'unknown'],
        [`${' '.repeat(506)}iPhone`, null, 'mobile'],
      ],
      ([userAgent, hint, type]) => {
        expect([deviceType(userAgent, hint), deviceType(userAgent, hint)]).toEqual([type, type]);
      },
    ));
});

test('a text that is no address has no canonical form', () => {
  expect([canonicalIp(null), canonicalIp('x'), readIp(null)]).toEqual([null, null, null]);
  expect(canonicalIp('::FFFF:192.0.2.1')).toBe('192.0.2.1');
});

describe('a reserved network', () => {
  const reserved = (text: string): boolean => isReserved(parseCidr(text)!);

  test('is one that nobody on the internet has', () =>
    expectRows(
      [
        '0.0.0.0/8',
        '10.1.2.3/32',
        '100.127.0.0/16',
        '127.0.0.1/32',
        '169.254.1.0/24',
        '172.31.0.0/16',
        '192.0.0.1/32',
        '192.0.2.1/32',
        '192.88.99.1/32',
        '192.168.0.0/16',
        '198.19.0.0/16',
        '198.51.100.7/32',
        '203.0.113.9/32',
        '224.0.0.1/32',
        '255.255.255.255/32',
        '::1/128',
        'fe80::/10',
        'fc00::/7',
        'ff02::1/128',
        '2001:100::/32',
        '2001:db8:1::/48',
        '2002:a00::/24',
        '3fff:fff::1/128',
        '4000::/3',
      ],
      (text) => {
        expect(reserved(text)).toBe(true);
      },
    ));

  test('is not one that somebody has', () =>
    expectRows(
      [
        '8.8.8.8/32',
        '100.128.0.0/16',
        '172.32.0.0/16',
        '192.0.1.0/24',
        '198.20.0.0/16',
        '223.255.255.0/24',
        '2001:200::/32',
        '2001:db9::/32',
        '2003::/16',
        '2a00::/16',
        '3fff:1000::/32',
      ],
      (text) => {
        expect(reserved(text)).toBe(false);
      },
    ));

  test('has one of few first octets', () => {
    const singles = [0, 10, 100, 127, 169, 172, 192, 198, 203];
    const expected = new Set([...singles, ...Array.from({ length: 32 }, (_, index) => 224 + index)]);
    expect(reservedFirstOctets).toEqual(expected);
  });
});
