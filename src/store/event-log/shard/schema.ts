/**
 * Tables of one shard; described in docs/storage-schema.md. `verdicts` holds unsealed rows. It has no second index,
 * because every index entry is a written row to pay for; `hot-keys.ts` replaces it. `seq` numbers insertions and is the
 * watermark of the rollups: rollup buckets count every row up to `merged_seq`, and memory counts later rows, so that
 * rows and counts always agree.
 */
const statements = [
  `CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS verdicts (
     ts INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, jti TEXT, ip TEXT, asn INTEGER,
     outcome INTEGER NOT NULL, source TEXT NOT NULL, device TEXT NOT NULL, bot TEXT, proof TEXT, path TEXT NOT NULL,
     fired INTEGER NOT NULL, kept INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (ts, id)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS rollup_values (
     dimension INTEGER NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (dimension, value))
     WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS rollup_texts (
     first INTEGER PRIMARY KEY, dimension INTEGER NOT NULL, texts TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS rollups (
     dimension INTEGER NOT NULL, level INTEGER NOT NULL, bucket INTEGER NOT NULL, data BLOB NOT NULL,
     PRIMARY KEY (dimension, level, bucket)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS isolates (
     isolate TEXT PRIMARY KEY, numbered INTEGER NOT NULL, stored INTEGER NOT NULL, last_ts INTEGER NOT NULL)
     WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS counted_batches (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS segments (
     no INTEGER PRIMARY KEY, state TEXT NOT NULL, object TEXT NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
     min_ts INTEGER NOT NULL, max_ts INTEGER NOT NULL, max_id TEXT NOT NULL, max_seq INTEGER NOT NULL,
     created_at INTEGER NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS row_groups (segment INTEGER PRIMARY KEY, data TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS segment_keys (at INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS segment_columns (at INTEGER PRIMARY KEY, keys BLOB NOT NULL, places BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS slice_bounds (no INTEGER PRIMARY KEY, bounds TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS sealed_ids (
     bucket INTEGER NOT NULL, segment INTEGER NOT NULL, chunk INTEGER NOT NULL, first_id TEXT NOT NULL,
     last_id TEXT NOT NULL, newest_ts INTEGER NOT NULL, data BLOB NOT NULL,
     PRIMARY KEY (bucket, segment, chunk)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS telemetry (
     jti TEXT NOT NULL, ts INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (jti, ts, id))
     WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS doomed_objects (object TEXT PRIMARY KEY) WITHOUT ROWID`,
];

/** Columns that tables of older shards do not have. Their rows have none of the values. */
const addedColumns = [
  ['verdicts', 'bot'],
  ['verdicts', 'proof'],
] as const;

export function createShardTables(sql: SqlStorage): void {
  for (const statement of statements) sql.exec(statement);
  for (const [table, column] of addedColumns) {
    const [known] = sql.exec('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, column);
    if (known === undefined) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column} TEXT`);
  }
}

export function readMeta(sql: SqlStorage, key: string): string | null {
  const [row] = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', key);
  return row?.value ?? null;
}

export function writeMeta(sql: SqlStorage, key: string, value: string): void {
  sql.exec(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    value,
  );
}
