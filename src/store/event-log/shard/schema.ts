/**
 * Tables of one shard; described in docs/storage-schema.md. `batches` holds unsealed verdicts, a batch in a row, and has
 * no second index, because every index entry is a written row to pay for; `hot-keys.ts` replaces it. Batches are
 * numbered, and a watermark divides them: rollups, counters and isolates hold what came up to it, and memory the rest,
 * so that rows and counts always agree.
 */
import { columnNames, type ObjectSchema, OlderState, tableNames } from '../../object-schema.ts';
import { batchStatements } from './batch-tables.ts';

export const CAPTCHA_BATCH_COLUMNS = 'no INTEGER PRIMARY KEY, events TEXT NOT NULL';

const statements = [
  `CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  ...batchStatements,
  `CREATE TABLE IF NOT EXISTS captcha_batches (${CAPTCHA_BATCH_COLUMNS})`,
  `CREATE TABLE IF NOT EXISTS captcha_pages (first TEXT PRIMARY KEY, rows INTEGER NOT NULL, records BLOB NOT NULL)
     WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS rollup_values (
     dimension INTEGER NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (dimension, value))
     WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS rollup_texts (
     first INTEGER PRIMARY KEY, dimension INTEGER NOT NULL, texts TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS rollups (
     dimension INTEGER NOT NULL, level INTEGER NOT NULL, bucket INTEGER NOT NULL, data BLOB NOT NULL,
     PRIMARY KEY (dimension, level, bucket)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS isolates (
     isolate TEXT PRIMARY KEY, stored INTEGER NOT NULL, numbered INTEGER NOT NULL, announced INTEGER NOT NULL,
     heard_at INTEGER NOT NULL, covered TEXT NOT NULL, hashes BLOB NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS counted_batches (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS segments (
     no INTEGER PRIMARY KEY, state TEXT NOT NULL, object TEXT NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
     min_ts INTEGER NOT NULL, max_ts INTEGER NOT NULL, max_id TEXT NOT NULL,
     created_at INTEGER NOT NULL, chosen TEXT)`,
  `CREATE TABLE IF NOT EXISTS row_groups (segment INTEGER PRIMARY KEY, data TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS segment_keys (at INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS segment_columns (at INTEGER PRIMARY KEY, keys BLOB NOT NULL, places BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS slice_bounds (no INTEGER PRIMARY KEY, bounds TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS sealed_captchas (
     no INTEGER PRIMARY KEY, min_ts INTEGER NOT NULL, max_ts INTEGER NOT NULL, jtis TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS erased_sessions (jti TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS doomed_objects (object TEXT PRIMARY KEY) WITHOUT ROWID`,
];

function createTables(sql: SqlStorage): void {
  for (const statement of statements) sql.exec(statement);
}

/** Columns and tables that no log had at first. Their rows and files cannot be made from what was there before. */
const NEWEST_COLUMNS = { isolates: 'announced', batches_0: 'rows', segments: 'chosen', slice_bounds: 'bounds' };

export const shardSchema: ObjectSchema = {
  object: 'VerdictShard',
  create: createTables,
  steps: [
    (sql) => {
      const tables = tableNames(sql);
      for (const [table, column] of Object.entries(NEWEST_COLUMNS)) {
        if (tables.has('meta') && !columnNames(sql, table).has(column)) throw new OlderState(`no ${table}.${column}`);
      }
      createTables(sql);
    },
    // The next merge moves the captchas of all batches into pages.
    createTables,
  ],
};

export function readMeta(sql: SqlStorage, key: string): string | null {
  const [row] = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', key);
  return row?.value ?? null;
}

/** Made when it is first asked for. */
export function shardBirth(sql: SqlStorage): string {
  const known = readMeta(sql, 'birth');
  if (known !== null) return known;
  const birth = crypto.randomUUID();
  writeMeta(sql, 'birth', birth);
  return birth;
}

export function writeMeta(sql: SqlStorage, key: string, value: string): void {
  sql.exec(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    value,
  );
}
