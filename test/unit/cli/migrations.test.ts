/** Migration files cut into statements as D1 takes them. */
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { splitSql } from '../../../src/cli/migrations.ts';

describe('a migration file', () => {
  test('is one statement per semicolon at the end of a line', () => {
    expect(splitSql('CREATE TABLE a (x);\nCREATE TABLE b (\n  y\n);\n')).toEqual([
      'CREATE TABLE a (x);',
      'CREATE TABLE b (\n  y\n);',
    ]);
  });

  test('keeps a semicolon within a line where it is', () => {
    expect(splitSql("INSERT INTO a VALUES ('1;2');")).toEqual(["INSERT INTO a VALUES ('1;2');"]);
  });

  test('loses comments and blank lines, also behind a statement', () => {
    expect(splitSql('-- why\n\nCREATE TABLE a (x); -- and what\n')).toEqual(['CREATE TABLE a (x); -- and what']);
  });

  test('keeps the body of a trigger in one piece', () => {
    const trigger = 'CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM b;\n  DELETE FROM c;\nEND;';
    expect(splitSql(`${trigger}\nCREATE TABLE d (x);`)).toEqual([trigger, 'CREATE TABLE d (x);']);
  });

  test('without a last semicolon still gives its last statement', () => {
    expect(splitSql('CREATE TABLE a (x)')).toEqual(['CREATE TABLE a (x)']);
  });

  test.each(readdirSync('src/store/d1/migrations'))('%s has a statement for each CREATE in it', (name) => {
    const source = readFileSync(`src/store/d1/migrations/${name}`, 'utf8');
    const statements = splitSql(source);
    expect(statements.filter((statement) => statement.startsWith('CREATE'))).toHaveLength(
      source.match(/^CREATE/gm)?.length ?? 0,
    );
  });
});
