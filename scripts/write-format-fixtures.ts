/**
 * Writes what the Durable Objects in a state directory hold as SQL, one file for each class, so that the tests start
 * every later build on it: `node scripts/write-format-fixtures.ts STATE_DIR NAME`. Before a release, start a local stack
 * with `npm start -- --state STATE_DIR`, use it (rules, visits, a session), stop it, and name the fixture after the version.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const FIXTURES = 'test/fixtures/formats';
const OBJECTS = 'service/do';
const PREFIX = 'gatehouse-service-';

const [stateDir, name] = process.argv.slice(2);
if (stateDir === undefined || name === undefined) throw new Error('Usage: write-format-fixtures.ts STATE_DIR NAME');
mkdirSync(join(FIXTURES, name), { recursive: true });
for (const folder of readdirSync(join(stateDir, OBJECTS))) {
  const files = readdirSync(join(stateDir, OBJECTS, folder)).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file));
  const dumps = files.map((file) => dump(join(stateDir, OBJECTS, folder, file)));
  const fullest = dumps.toSorted((a, b) => b.length - a.length)[0];
  if (fullest === undefined) continue;
  writeFileSync(join(FIXTURES, name, `${folder.slice(PREFIX.length)}.sql`), `${fullest.join('\n')}\n`);
}

/** A statement for each table, index and row. */
function dump(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const made = database
    .prepare(
      `SELECT type, name, sql FROM sqlite_master
       WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' ORDER BY type DESC, name`,
    )
    .all() as { type: string; name: string; sql: string }[];
  const tables = made.filter(({ type }) => type === 'table');
  const others = made.filter(({ type }) => type !== 'table');
  const statements = [
    ...tables.map(({ sql }) => sql),
    ...tables.flatMap(({ name: table }) => rows(database, table)),
    ...others.map(({ sql }) => sql),
  ];
  database.close();
  return statements.map((sql) => `${sql.replaceAll(/\s*\n\s*/g, ' ')};`);
}

function rows(database: DatabaseSync, table: string): string[] {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
  const values = columns.map(({ name: column }) => `quote("${column}")`).join(` || ', ' || `);
  const found = database.prepare(`SELECT ${values} AS row FROM "${table}"`).all() as { row: string }[];
  return found.map(({ row }) => `INSERT INTO ${table} VALUES (${row})`);
}
