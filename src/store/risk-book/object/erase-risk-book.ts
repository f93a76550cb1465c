/**
 * Erases a book whose instance was deleted, without waiting for retention. The book is marked first and erased by the
 * alarm later, so that session calls that started before the deletion have arrived by then.
 */
import { migrateObject, type ObjectSchema, tableNames } from '../../object-schema.ts';
import { createListTables } from './session-lists.ts';
import { createSessionTables, takeOverSessions } from './session-rows.ts';

/** Longer than any call to the service takes. */
const ERASE_AFTER_MS = 60_000;

function createTables(sql: SqlStorage): void {
  createSessionTables(sql);
  createListTables(sql);
  sql.exec('CREATE TABLE IF NOT EXISTS retired (one INTEGER PRIMARY KEY CHECK (one = 1), erase_at INTEGER NOT NULL)');
}

export const riskBookSchema: ObjectSchema = {
  object: 'RiskBook',
  create: createTables,
  steps: [
    (sql) => {
      createTables(sql);
      if (tableNames(sql).has('sessions')) takeOverSessions(sql);
    },
  ],
};

/** When to erase the book; the first mark counts. `null`: it holds nothing. */
export function markRiskBookRetired(sql: SqlStorage, nowMs: number): number | null {
  if (!holdsAnything(sql)) return null;
  sql.exec('INSERT INTO retired (one, erase_at) VALUES (1, ?) ON CONFLICT DO NOTHING', nowMs + ERASE_AFTER_MS);
  return riskBookEraseAt(sql);
}

/** `null`: the book is in use. */
export function riskBookEraseAt(sql: SqlStorage): number | null {
  return sql.exec<{ at: number }>('SELECT erase_at AS at FROM retired').toArray()[0]?.at ?? null;
}

/** Leaves an empty book. */
export async function eraseRiskBook(storage: DurableObjectStorage): Promise<void> {
  await storage.deleteAll();
  migrateObject(storage, riskBookSchema);
}

function holdsAnything(sql: SqlStorage): boolean {
  const tables = ['periods', 'ended', 'raised', 'withdrawn'];
  return tables.some((table) => sql.exec(`SELECT 1 FROM ${table} LIMIT 1`).toArray().length > 0);
}
