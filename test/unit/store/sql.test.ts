import { expect, test } from 'vitest';
import { joined, sql } from '../../../src/store/sql.ts';

test('a value becomes a bound parameter and never a part of the text', () => {
  const name = "x'; DROP TABLE sites; --";
  expect(sql`SELECT * FROM sites WHERE name = ${name} LIMIT ${1}`).toMatchObject({
    text: 'SELECT * FROM sites WHERE name = ? LIMIT ?',
    values: [name, 1],
  });
});

test('a piece of SQL brings its values to where it stands', () => {
  const isOlder = sql`(at, id) < (${3}, ${'b'})`;
  expect(sql`SELECT ${'a'} WHERE ${isOlder} AND kind = ${null}`).toMatchObject({
    text: 'SELECT ? WHERE (at, id) < (?, ?) AND kind = ?',
    values: ['a', 3, 'b', null],
  });
});

test('a flag is bound as 0 or 1', () => {
  expect(sql`SET active = ${true}, is_default = ${false}`.values).toEqual([1, 0]);
});

test('pieces of a list have commas between them', () => {
  expect(joined([sql`a = ${1}`, sql`b = ${2}`])).toMatchObject({ text: 'a = ?, b = ?', values: [1, 2] });
  expect(joined([sql`a = ${1}`])).toMatchObject({ text: 'a = ?', values: [1] });
});
