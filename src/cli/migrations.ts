/**
 * D1 migrations, applied as `wrangler d1 migrations apply` does it and into the same table, so that a
 * database can be carried on by either.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';

const MIGRATIONS_DIR = 'src/store/d1/migrations';

/** @returns the names of the migrations applied now. A migration is one transaction: all of it or nothing. */
export async function migrate(database: D1Database, dir = MIGRATIONS_DIR): Promise<string[]> {
  await database
    .prepare(
      `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
       applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
    )
    .run();
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const done = new Set(results.map((row) => row.name));
  const names = readdirSync(dir).filter((name) => name.endsWith('.sql') && !done.has(name));
  names.sort();
  for (const name of names) {
    const statements = splitSql(readFileSync(join(dir, name), 'utf8'));
    // One after the other: each may build on the one before.
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ]);
  }
  return names;
}

/** Statements of a migration file. Whole-line `--` comments go; a trigger's body keeps its semicolons. */
export function splitSql(source: string): string[] {
  const statements: string[] = [];
  let statement = '';
  for (const line of source.split('\n')) {
    if (line.trim() === '' || line.trim().startsWith('--')) continue;
    statement += `${line}\n`;
    const code = line.replace(/\s--\s.*$/, '').trimEnd();
    if (!code.endsWith(';')) continue;
    if (/^\s*CREATE\s+(TEMP\s+)?TRIGGER/i.test(statement) && !/\bEND;$/i.test(code)) continue;
    statements.push(statement.trim());
    statement = '';
  }
  if (statement.trim() !== '') statements.push(statement.trim());
  return statements;
}
