import { expect, test } from 'vitest';
import { isAt, lineOf, ofItem } from '../../../src/console/settings/refused-paths.ts';
import { expectRows } from '../../support/rows.ts';

test('a place in a call is at the field that its end names', async () => {
  const rows: [path: string, field: string, is: boolean][] = [
    ['note', 'note', true],
    ['settings.note', 'note', true],
    ['rules[0].note', 'note', true],
    ['patterns[2]', 'patterns', true],
    ['patterns.2', 'patterns', true],
    ['rule.conditions.1.value', 'conditions.1.value', true],
    ['rule.conditions[1].value', 'conditions.0.value', false],
    ['footnote', 'note', false],
    ['note.text', 'note', false],
  ];
  await expectRows(rows, ([path, field, is]) => expect(isAt(path, field)).toBe(is));
});

test('the third item is the third line, and a field without items has none', () => {
  expect([lineOf('patterns[2]'), lineOf('patterns.2'), lineOf('rules[2].note')]).toEqual(['line 3: ', 'line 3: ', '']);
});

test('of a whole list, the own item is the form and another one is named', () => {
  const message = 'is used twice';
  const details = ['limits[0].count', 'limits.1.name', 'limits'].map((path) => ({ path, message }));
  const error = { status: 400, key: 'API.BAD_REQUEST', message: 'No.', details, requestId: null };
  expect(ofItem(error, 'limits', [{ name: 'login' }, { name: 'search' }], 'search').details).toEqual([
    { path: '', message: 'login: is used twice' },
    { path: 'name', message },
    { path: 'limits', message },
  ]);
});
