/**
 * Tables of one RuleBook (docs/storage-schema.md, "RuleBook"). `rules` is the present state and `changes` the log that
 * produced it. Deltas, history and rollback read the log. A rule is only written by applying a version of the log, so
 * that the two always agree. Lists have tables of their own: no write of a list touches a rule of the operator.
 */
import type { ObjectSchema } from '../../object-schema.ts';

/** WITHOUT ROWID: rules are listed and compiled in the order of the key. */
const statements = [
  `CREATE TABLE IF NOT EXISTS rules (
     type INTEGER NOT NULL, value TEXT NOT NULL, verdict INTEGER NOT NULL, mode INTEGER NOT NULL,
     expiry INTEGER, rollout REAL, note TEXT,
     created_at INTEGER NOT NULL, created_by INTEGER NOT NULL,
     updated_at INTEGER NOT NULL, updated_by INTEGER NOT NULL,
     PRIMARY KEY (type, value)
   ) WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS rules_expiry ON rules (expiry) WHERE expiry IS NOT NULL`,
  `CREATE TABLE IF NOT EXISTS changes (
     version INTEGER NOT NULL, type INTEGER NOT NULL, value TEXT NOT NULL,
     before TEXT, after TEXT,
     PRIMARY KEY (version, type, value)
   ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS versions (
     version INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor INTEGER NOT NULL, kind TEXT NOT NULL,
     created INTEGER NOT NULL, updated INTEGER NOT NULL, deleted INTEGER NOT NULL, restores INTEGER
   )`,
  `CREATE TABLE IF NOT EXISTS bases (
     hash TEXT PRIMARY KEY, version INTEGER NOT NULL, rules INTEGER NOT NULL, bytes INTEGER NOT NULL,
     state TEXT NOT NULL, created_at INTEGER NOT NULL, superseded_at INTEGER,
     checked_at INTEGER NOT NULL DEFAULT 0
   )`,
  `CREATE TABLE IF NOT EXISTS counts (
     type INTEGER NOT NULL, verdict INTEGER NOT NULL, rules INTEGER NOT NULL, PRIMARY KEY (type, verdict)
   ) WITHOUT ROWID`,
  // `removed_at`: the version that removed the list. Its number is free once no edge can load an entry of it.
  `CREATE TABLE IF NOT EXISTS lists (
     list INTEGER PRIMARY KEY, name TEXT NOT NULL, verdict INTEGER NOT NULL, mode INTEGER NOT NULL,
     entries INTEGER NOT NULL, revision INTEGER NOT NULL, removed_at INTEGER
   )`,
  `CREATE TABLE IF NOT EXISTS list_entries (
     list INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (list, key)
   ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS list_changes (
     version INTEGER NOT NULL, type INTEGER NOT NULL, value TEXT NOT NULL, list INTEGER,
     PRIMARY KEY (version, type, value)
   ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS expired (id INTEGER PRIMARY KEY CHECK (id = 1), before INTEGER NOT NULL)`,
  `INSERT INTO expired (id, before) VALUES (1, 0) ON CONFLICT DO NOTHING`,
  // API key ids are long and repeat in every row: a rule holds the number, this table the id.
  `CREATE TABLE IF NOT EXISTS actors (actor INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
  // `instance_id`: an alarm starts the object without its name, and R2 keys contain the name.
  `CREATE TABLE IF NOT EXISTS book (
     id INTEGER PRIMARY KEY CHECK (id = 1), instance_id TEXT NOT NULL, version INTEGER NOT NULL,
     history_floor INTEGER NOT NULL
   )`,
  // One row per client JWT that made contact.
  `CREATE TABLE IF NOT EXISTS edges (
     jti TEXT PRIMARY KEY, contact_at INTEGER NOT NULL, rules_version INTEGER, config_version TEXT, config_at INTEGER,
     build TEXT, colo TEXT
   ) WITHOUT ROWID`,
  // Has a row once the instance was deleted and until the book is erased.
  `CREATE TABLE IF NOT EXISTS retired (at INTEGER NOT NULL)`,
];

function createTables(sql: SqlStorage): void {
  for (const statement of statements) sql.exec(statement);
}

export const ruleBookSchema: ObjectSchema = {
  object: 'RuleBook',
  create: createTables,
  steps: [
    // Until version 1, tables were only added.
    createTables,
    (sql) => sql.exec('ALTER TABLE bases ADD COLUMN checked_at INTEGER NOT NULL DEFAULT 0'),
  ],
};

/** `instanceId` is unknown when an alarm starts an object that was created before. */
export function nameRuleBook(sql: SqlStorage, instanceId: string | undefined): void {
  if (instanceId === undefined) return;
  sql.exec(
    'INSERT INTO book (id, instance_id, version, history_floor) VALUES (1, ?, 0, 0) ON CONFLICT DO NOTHING',
    instanceId,
  );
}

/** Who wrote a version. API key ids are long and repeat, so rows hold the number of a name. */
export function actorNumber(sql: SqlStorage, name: string): number {
  sql.exec('INSERT INTO actors (name) VALUES (?) ON CONFLICT DO NOTHING', name);
  return sql.exec<{ actor: number }>('SELECT actor FROM actors WHERE name = ?', name).one().actor;
}
