/** Conditions as rows: what they show, and the text that they are. */
import { expect, test } from 'vitest';
import {
  changedRow,
  groupOf,
  newRow,
  rowProblem,
  rowsOfText,
  textOfRows,
} from '../../../src/console/views/policies/condition-rows.ts';
import { expectRows } from '../../support/rows.ts';

test('a condition of tests and groups of them is shown as rows, which are the same text', () =>
  expectRows(
    [
      'path startsWith "/login"',
      'not cookie["sid"] exists',
      'path startsWith "/a" and not country in ["DE", "AT"]',
      'path startsWith "/a" and (asn equals 1 or asn greaterThan 5) and header["x-a"] equals "b c"',
      'riskScore greaterThan 0.5 or path equals "/a" and not ip ipIn ["192.0.2.0/24"]',
      'not (path equals "/a" or path equals "/b")',
      'method equals "POST" and not (bot exists and bot["proof"] in ["dns", "range"])',
      'header["accept"] equals " \\"a\\" "',
    ],
    (text) => {
      expect(textOfRows(rowsOfText(text)!)).toBe(text);
    },
  ));

test('a condition that rows cannot show stays text', () =>
  expectRows(
    [
      'path equals "/a" and (asn equals 1 or asn equals 2 and country exists)',
      'not not path exists',
      'path equals "/a" and not (asn exists or not not country exists)',
      'cookie["a"] equals "one\\ntwo"',
      'cookie["a"] in ["", "b"]',
      'cookie["a"] in [" b"]',
      'ja4 in ["a b"]',
      'path equals',
    ],
    (text) => {
      expect(rowsOfText(text)).toBeNull();
    },
  ));

test('no text is one row to be filled in, and no group is no text', () => {
  expect(rowsOfText(' ')).toEqual({ joint: 'and', groups: [groupOf(newRow)] });
  expect(textOfRows({ joint: 'and', groups: [] })).toBe('');
});

test('several values of a row are typed one per line or in one line, and countries and methods in any case', () =>
  expectRows(
    [
      [{ field: 'country', operator: 'in', value: 'NL, DE' }, 'country in ["NL", "DE"]'],
      [{ field: 'country', operator: 'in', value: 'nl de' }, 'country in ["NL", "DE"]'],
      [{ field: 'country', operator: 'equals', value: 't1' }, 'country equals "T1"'],
      [{ field: 'method', operator: 'in', value: 'get,post\nput' }, 'method in ["GET", "POST", "PUT"]'],
      [{ field: 'asn', operator: 'in', value: '64496, 64497' }, 'asn in [64496, 64497]'],
      [
        { field: 'ip', operator: 'ipIn', value: '192.0.2.0/24 198.51.100.7' },
        'ip ipIn ["192.0.2.0/24", "198.51.100.7"]',
      ],
      // A comma or a space can be a part of these.
      [{ field: 'path', operator: 'in', value: '/a, b\n/c' }, 'path in ["/a, b", "/c"]'],
      [{ field: 'country', operator: 'contains', value: 'n' }, 'country contains "n"'],
    ] as const,
    ([typed, text]) => {
      const row = { ...newRow, ...typed };
      expect(rowProblem(row)).toBeNull();
      expect(textOfRows({ joint: 'and', groups: [groupOf(row)] })).toBe(text);
    },
  ));

test('a row keeps of a change what fits the new field and operator', () => {
  const row = { ...newRow, field: 'header', name: 'x-a', operator: 'in', value: 'a\nb', isNot: true } as const;
  expect(changedRow(row, { operator: 'contains' })).toEqual({ ...row, operator: 'contains', value: 'a' });
  expect(changedRow(row, { operator: 'exists' })).toEqual({ ...row, operator: 'exists', value: '' });
  expect(changedRow(row, { field: 'riskScore' })).toEqual({ ...row, field: 'riskScore', name: '' });
  expect(changedRow(newRow, { field: 'asn' })).toEqual({ ...newRow, field: 'asn', operator: 'equals' });
  expect(changedRow(newRow, { field: 'pathType', operator: 'equals' })).toMatchObject({ value: 'html' });
  const countries = { ...newRow, field: 'country', operator: 'in', value: 'NL, DE' } as const;
  expect(changedRow(countries, { operator: 'equals' })).toMatchObject({ value: 'NL' });
  const category = { ...newRow, field: 'ipCategory', operator: 'in', value: 'tor\nvpn' } as const;
  expect(changedRow(category, { value: 'tor\nnothing' })).toMatchObject({ value: 'tor' });
});

test('what is wrong with a row is said by the parser, once something is written', () => {
  expect(rowProblem(newRow)).toBeNull();
  expect(rowProblem({ ...newRow, value: 'login' })).toContain('must begin with "/"');
  expect(rowProblem({ ...newRow, field: 'asn', operator: 'equals', value: 'AS1' })).toContain('must be a number');
  expect(rowProblem({ ...newRow, field: 'asn', operator: 'equals', value: ' 64496 ' })).toBeNull();
});
