/** What the text form means, and what its errors say. */
import { describe, expect, test } from 'vitest';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { printExpression } from '../../../src/policies/text/print.ts';
import { expectRows } from '../../support/rows.ts';

function read(text: string) {
  const parsed = parseExpression(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

const a = { field: 'path', operator: 'startsWith', value: '/a' };
const b = { field: 'cookie', name: 'sid', operator: 'exists' };
const c = { field: 'asn', operator: 'in', value: [1, 2] };
const [textA, textB, textC] = ['path startsWith "/a"', 'cookie["sid"] exists', 'asn in [1, 2]'];

describe('the text form', () => {
  test('is read as a tree, and printed as it was', () =>
    expectRows(
      [
        [textA, a],
        [`${textA} and not ${textB}`, { and: [a, { not: b }] }],
        [`${textA} or ${textB} and ${textC}`, { or: [a, { and: [b, c] }] }],
        [`(${textA} or ${textB}) and ${textC}`, { and: [{ or: [a, b] }, c] }],
        [`not (${textA} and ${textB})`, { not: { and: [a, b] } }],
        [`not not ${textA}`, { not: { not: a } }],
        [`(${textA} and (${textB} and ${textC}))`, { and: [a, b, c] }],
        ['header["X-Test"] equals "\\u0041\\n"', { field: 'header', name: 'x-test', operator: 'equals', value: 'A\n' }],
        ['host in ["SHOP.example", "shop.example"]', { field: 'host', operator: 'in', value: ['shop.example'] }],
        [
          'ip ipIn ["192.0.2.77/24", "2001:DB8:0::1"]',
          { field: 'ip', operator: 'ipIn', value: ['192.0.2.0/24', '2001:db8::1/128'] },
        ],
        ['riskScore greaterThan 5e-1', { field: 'riskScore', operator: 'greaterThan', value: 0.5 }],
        ['asn == 1', { field: 'asn', operator: 'equals', value: 1 }],
        ['asn!=1', { not: { field: 'asn', operator: 'equals', value: 1 } }],
        [
          'asn not equals 1 and cookie["sid"] not exists',
          { and: [{ not: { ...c, operator: 'equals', value: 1 } }, { not: b }] },
        ],
        ['not asn not in [1, 2]', { not: { not: c } }],
        ['bot["proof"] equals "dns"', { field: 'bot', name: 'proof', operator: 'equals', value: 'dns' }],
      ],
      ([text, tree]) => {
        expect(read(text)).toEqual(tree);
        expect(read(printExpression(read(text)))).toEqual(tree);
      },
    ));

  test('is refused at the place of its mistake', () =>
    expectRows(
      [
        ['', 1, 1, 'expected a field, "not" or "(", found the end'],
        ['path', 1, 5, 'expected one of equals, in, startsWith, endsWith, contains, matches, exists, found the end'],
        ['paht equals "/"', 1, 1, 'expected a field, "not" or "(", found "paht"'],
        ['path greaterThan "/"', 1, 6, 'expected one of equals, in,'],
        ['path not not equals "/"', 1, 10, 'expected one of equals, in,'],
        ['path not', 1, 9, 'expected one of equals, in,'],
        ['path not != "/"', 1, 10, 'expected one of equals, in,'],
        ['path = "/"', 1, 6, 'unexpected character "="'],
        ['path equals /api', 1, 13, 'unexpected character "/"'],
        ['path equals "/api', 1, 13, 'this text has no closing quote'],
        ['path equals "/\\x"', 1, 15, 'unknown escape'],
        ['path equals "/\n"', 1, 15, 'must not have control characters'],
        ['path equals "api"', 1, 13, 'must begin with "/"'],
        ['cookie exists', 1, 8, 'expected ["name"] of the cookie, found "exists"'],
        ['cookie[sid] exists', 1, 8, 'expected a name in quotes, found "sid"'],
        ['header["a b"] exists', 1, 8, 'must be the name of a header'],
        ['asn equals "x"', 1, 12, 'must be a number'],
        ['country in ["DE", "at"]', 1, 19, 'must be a country code in capital letters'],
        ['country in ["DE" "AT"]', 1, 18, 'expected "," or "]", found "AT"'],
        ['country in []', 1, 13, 'expected a text in quotes or a number, found "]"'],
        ['ip ipIn ["192.0.2.0/24",\n  "192.0.2.0/33"]', 2, 3, 'must be a network'],
        ['ip equals "192.0.2"', 1, 11, 'must be an address'],
        [`${textA}\n  and`, 2, 6, 'expected a field, "not" or "(", found the end'],
        [`${textA} ${textB}`, 1, 22, 'expected "and", "or" or the end, found "cookie"'],
        [`(${textA}`, 1, 22, 'expected "and", "or" or ")", found the end'],
        [`${textA})`, 1, 21, 'expected "and", "or" or the end, found ")"'],
        ['ip exists and 😀', 1, 15, 'unexpected character "😀"'],
        ['not '.repeat(32) + textA, 1, 125, 'nested deeper than 32 levels'],
        [`${'not '.repeat(31)}asn != 1`, 1, 133, 'nested deeper than 32 levels'],
        ['('.repeat(101), 1, 100, 'more than 100 open parentheses'],
        [Array.from({ length: 256 }, () => textA).join(' and '), 1, 6376, 'more than 256 parts'],
      ],
      ([text, line, column, message]) => {
        const parsed = parseExpression(text);
        expect(parsed).toMatchObject({ ok: false, error: { line, column } });
        expect(parsed).toHaveProperty('error.message', expect.stringContaining(message));
      },
    ));

  test('is refused at any length and depth without an overflow', () => {
    for (const text of ['('.repeat(500_000), 'not '.repeat(120_000), `path in ["${'/'.repeat(1_000_000)}"]`]) {
      expect(parseExpression(text).ok).toBe(false);
    }
  });

  test('has as many levels in a tree of groups as in one of negations', () => {
    const nested = (levels: number): string =>
      levels === 1 ? textA : `${textB} ${levels % 2 ? 'and' : 'or'} (${nested(levels - 1)})`;
    expect(parseExpression(nested(32)).ok).toBe(true);
    expect(parseExpression(nested(33))).toMatchObject({ error: { message: 'nested deeper than 32 levels' } });
  });
});
