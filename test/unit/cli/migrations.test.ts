/** Migration files split into the statements that D1 runs. */
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { splitSql } from '../../../src/cli/migrations.ts';
import { expectRows } from '../../support/rows.ts';

describe('a migration file', () => {
  test('is split at each semicolon that ends a line', () => {
    expect(splitSql('CREATE TABLE a (x);\nCREATE TABLE b (\n  y\n);\n')).toEqual([
      'CREATE TABLE a (x);',
      'CREATE TABLE b (\n  y\n);',
    ]);
  });

  test('is not split at a semicolon inside a line', () => {
    expect(splitSql("INSERT INTO a VALUES ('1;2');")).toEqual(["INSERT INTO a VALUES ('1;2');"]);
  });

  test('loses comment lines and blank lines', () => {
    expect(splitSql('-- why\n\nCREATE TABLE a (x); -- and what\n')).toEqual(['CREATE TABLE a (x); -- and what']);
  });

  test('keeps the body of a trigger in one statement', () => {
    const trigger = 'CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  DELETE FROM b;\n  DELETE FROM c;\nEND;';
    expect(splitSql(`${trigger}\nCREATE TABLE d (x);`)).toEqual([trigger, 'CREATE TABLE d (x);']);
  });

  test('keeps its last statement without a semicolon', () => {
    expect(splitSql('CREATE TABLE a (x)')).toEqual(['CREATE TABLE a (x)']);
  });

  test('has a statement for each of its CREATEs', () =>
    expectRows(readdirSync('src/store/d1/migrations'), (name) => {
      const source = readFileSync(`src/store/d1/migrations/${name}`, 'utf8');
      const statements = splitSql(source);
      expect(statements.filter((statement) => statement.startsWith('CREATE'))).toHaveLength(
        source.match(/^CREATE/gm)?.length ?? 0,
      );
    }));
});
