/**
 * Applies D1 migrations as `wrangler d1 migrations apply` does, and records them in the same table, so that both can
 * work on one database.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { OperatorError } from './failure.ts';

export const MIGRATIONS_DIR = 'src/store/d1/migrations';

/**
 * Returns the names of the migrations that it applied. Each migration is one transaction.
 * @throws OperatorError when the database has a migration that this checkout does not have.
 */
export async function migrate(database: D1Database, dir = MIGRATIONS_DIR): Promise<string[]> {
  await database
    .prepare(
      `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
       applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
    )
    .run();
  const { results } = await database.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const done = new Set(results.map((row) => row.name));
  const known = readdirSync(dir).filter((name) => name.endsWith('.sql'));
  const unknown = [...done].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new OperatorError(`The database was made by a newer version, with ${unknown}. Update this checkout.`);
  const names = known.filter((name) => !done.has(name)).toSorted();
  for (const name of names) {
    const statements = splitSql(readFileSync(join(dir, name), 'utf8'));
    // In sequence, because a migration can depend on the one before.
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ]);
  }
  return names;
}

/** The statements of a migration file. Drops lines that are `--` comments. Keeps a trigger's body in one piece. */
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
