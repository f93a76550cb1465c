/** Address categories: the default, an operator's own set, and sets that are refused. */
import { describe, expect, test } from 'vitest';
import { readIpCategories } from '../../../src/edge/request/ip-categories.ts';
import { expectRows } from '../../support/rows.ts';

const of = (json: string | null, ip: string | null, asn: number | null, country: string | null) => {
  const reading = readIpCategories(json);
  if (!reading.ok) throw new Error(reading.error);
  return [...reading.value.of(ip, asn, country)];
};

describe('ip categories', () => {
  test('by default Tor is found by its country code and data centers by their ASN', () => {
    expect(of(null, '192.0.2.1', 24_940, 'DE')).toEqual(['datacenter']);
    expect(of(null, '192.0.2.1', 64_496, 'T1')).toEqual(['tor']);
    expect(of(null, '192.0.2.1', 24_940, 'T1')).toEqual(['tor', 'datacenter']);
    expect(of(null, '192.0.2.1', 64_496, 'DE')).toEqual([]);
    expect(of(null, null, null, null)).toEqual([]);
  });

  test('an operator’s set replaces the default, with prefixes of both address families', () => {
    const json = JSON.stringify({
      asn: { AS64496: ['vpn'] },
      prefixes: { '192.0.2.0/25': ['abuser'], '2001:db8::/33': ['proxy'], '0.0.0.0/0': ['crawler'] },
    });
    expect(of(json, '192.0.2.1', 24_940, 'DE')).toEqual(['abuser', 'crawler']);
    expect(of(json, '192.0.2.200', 64_496, 'DE')).toEqual(['vpn', 'crawler']);
    expect(of(json, '2001:db8:7fff::1', null, null)).toEqual(['proxy']);
    expect(of(json, '2001:db8:8000::1', null, null)).toEqual([]);
  });

  test('are refused with a reason when they are malformed', () =>
    expectRows(
      ['{', '[]', '{"asn":{"x":["vpn"]}}', '{"prefixes":{"192.0.2.0":["vpn"]}}', '{"asn":{"1":["evil"]}}'],
      (json) => {
        expect(readIpCategories(json)).toMatchObject({
          ok: false,
          error: expect.stringContaining('IP_CATEGORIES') as string,
        });
      },
    ));
});
