import { describe, expect, test } from 'vitest';
import type { EdgeRuleCanonical } from '../../../src/contract/management/edge-rule.ts';
import {
  detectFormat,
  ruleFileEntries,
  ruleFileFormats,
  ruleFileLine,
} from '../../../src/contract/management/rule-file/rule-file.ts';
import { expectRows } from '../../support/rows.ts';

const plain: EdgeRuleCanonical = {
  type: 'ipMask',
  value: '192.0.2.0/24',
  verdict: 'block',
  mode: 'enforce',
  expiry: null,
  rollout: 100,
  note: null,
};

describe('a plain list', () => {
  test('has addresses, prefixes and AS numbers, with comments and blank lines', () => {
    const text = '; published list\n\n192.0.2.1\n10.0.0.0/8 ; SBL1\r\n  # nothing\nAS64496 # a network\n2001:db8::/32';
    expect([...ruleFileEntries(text, 'list')]).toEqual([
      { line: 3, rule: { type: 'ip', value: '192.0.2.1' } },
      { line: 4, rule: { type: 'ipMask', value: '10.0.0.0/8' } },
      { line: 6, rule: { type: 'asn', value: 'AS64496' } },
      { line: 7, rule: { type: 'ipMask', value: '2001:db8::/32' } },
    ]);
  });

  test('the type of each line is told by its shape', () =>
    expectRows(
      [
        ['192.0.2.1', 'ip'],
        ['2001:db8::1', 'ip'],
        ['192.0.2.300', 'ip'],
        ['192.0.2.0/24', 'ipMask'],
        ['fe80/10', 'ipMask'],
        ['192.0.2.0/255.255.255.0', 'ipMask'],
        ['AS64496', 'asn'],
        ['as64496', 'asn'],
        ['NL', 'countryCode'],
        ['t1', 'countryCode'],
        ['t13d1516h2_8daaf6152771_02713d6af862', 'ja4Hash'],
        ['curl/8.5', 'userAgent'],
        ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)', 'userAgent'],
      ],
      ([value, type]) => {
        expect([...ruleFileEntries(value, 'list')]).toEqual([{ line: 1, rule: { type, value } }]);
      },
    ));

  test('a line whose type nobody can tell is reported', () =>
    expectRows(
      [
        ['10.0.0.0 10.0.0.255', 'has more than one value'],
        ['64496', 'is only a number; write AS64496 for an AS number'],
        ['badbot', expect.stringContaining('is no address, network, AS number')],
        ['https://www.example.com/1', expect.stringContaining('is no address, network, AS number')],
      ],
      ([value, reason]) => {
        expect([...ruleFileEntries(value, 'list')]).toEqual([{ line: 1, reason }]);
      },
    ));

  test('a rule that a list cannot express is written as a comment, so that reading it back enforces nothing new', () => {
    for (const rule of [
      { ...plain, mode: 'monitor' as const },
      { ...plain, rollout: 10 },
      { ...plain, expiry: '2027-01-01T00:00:00.000Z' },
      { ...plain, type: 'userAgent' as const, value: 'curl/' },
    ]) {
      expect([...ruleFileEntries(ruleFileLine(rule, 'list'), 'list')]).toEqual([]);
    }
  });
});

describe('CSV', () => {
  test('a quote that is not closed is reported also in a heading, or where a comment would follow it', () =>
    expectRows(['"\n10.0.0.0/8', '"# offices\nip,10.0.0.1', 'type,value,"note\nip,10.0.0.1,block'], (text) => {
      expect([...ruleFileEntries(text, 'csv')]).toEqual([{ line: 1, reason: 'has a quote that is not closed' }]);
    }));

  test('takes the columns in any order from a heading', () => {
    expect([...ruleFileEntries('verdict,value,type,rollout\nblock,192.0.2.1,ip,12.5', 'csv')]).toEqual([
      { line: 2, rule: { verdict: 'block', value: '192.0.2.1', type: 'ip', rollout: '12.5' } },
    ]);
  });

  test('without a heading starts with type, value and verdict', () => {
    expect([...ruleFileEntries('ip,192.0.2.1,block\n# off\nasn,64496', 'csv')]).toEqual([
      { line: 1, rule: { type: 'ip', value: '192.0.2.1', verdict: 'block' } },
      { line: 3, rule: { type: 'asn', value: '64496' } },
    ]);
  });

  test('a later piece uses the heading of the first', () => {
    expect([...ruleFileEntries('block,ip,192.0.2.1', 'csv', ['verdict', 'type', 'value'])]).toEqual([
      { line: 1, rule: { verdict: 'block', type: 'ip', value: '192.0.2.1' } },
    ]);
  });

  test('a line with more fields than columns is skipped', () => {
    expect([...ruleFileEntries('type,value\nip,192.0.2.1,block', 'csv')]).toEqual([
      { line: 2, reason: 'has 3 fields for 2 columns' },
    ]);
  });
});

describe('NDJSON', () => {
  test('a line that is not an object is reported with its number', () => {
    expect([...ruleFileEntries('{"type":"ip"}\n\n[1]\n{', 'ndjson')]).toEqual([
      { line: 1, rule: { type: 'ip' } },
      { line: 3, reason: 'is not a JSON object' },
      { line: 4, reason: 'is not a JSON object' },
    ]);
  });
});

test('the format of a file is detected by its first entry', () =>
  expectRows(
    [
      ['ip,192.0.2.1,block', 'csv'],
      ['\n# list\n{"type":"ip"}', 'ndjson'],
      ['; drop list, of today\n192.0.2.0/24 ; SBL1, SBL2', 'list'],
      ['', 'list'],
    ],
    ([text, format]) => {
      expect(detectFormat(text)).toBe(format);
    },
  ));

test.each(ruleFileFormats)('a rule written as %s reads back unchanged', (format) => {
  const [entry] = ruleFileEntries(ruleFileLine({ ...plain, note: 'of "today", all' }, format), format);
  expect(entry).toMatchObject({ rule: { type: 'ipMask', value: '192.0.2.0/24' } });
});
