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

test('a row keeps of a change what fits the new field and operator', () => {
  const row = { ...newRow, field: 'header', name: 'x-a', operator: 'in', value: 'a\nb', isNot: true } as const;
  expect(changedRow(row, { operator: 'contains' })).toEqual({ ...row, operator: 'contains', value: 'a' });
  expect(changedRow(row, { operator: 'exists' })).toEqual({ ...row, operator: 'exists', value: '' });
  expect(changedRow(row, { field: 'riskScore' })).toEqual({ ...row, field: 'riskScore', name: '' });
  expect(changedRow(newRow, { field: 'asn' })).toEqual({ ...newRow, field: 'asn', operator: 'equals' });
  expect(changedRow(newRow, { field: 'pathType', operator: 'equals' })).toMatchObject({ value: 'html' });
  const category = { ...newRow, field: 'ipCategory', operator: 'in', value: 'tor\nvpn' } as const;
  expect(changedRow(category, { value: 'tor\nnothing' })).toMatchObject({ value: 'tor' });
});

test('what is wrong with a row is said by the parser, once something is written', () => {
  expect(rowProblem(newRow)).toBeNull();
  expect(rowProblem({ ...newRow, value: 'login' })).toContain('must begin with "/"');
  expect(rowProblem({ ...newRow, field: 'asn', operator: 'equals', value: 'AS1' })).toContain('must be a number');
  expect(rowProblem({ ...newRow, field: 'asn', operator: 'equals', value: ' 64496 ' })).toBeNull();
});
