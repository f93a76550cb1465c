/**
 * The version of a Durable Object's tables. An object brings its tables to the newest version at its first access,
 * forward only and in one transaction. It refuses tables that it cannot read, in one sentence that health repeats,
 * because code that works on them fails in the middle of a call, or answers without what they hold.
 */
import { noteRefusedObject, type StateAge } from './d1/object-failures.ts';

export interface ObjectSchema {
  /** Name of the class. */
  object: string;
  /** Makes the tables of the newest version in an empty object. */
  create: (sql: SqlStorage) => void;
  /**
   * Step n takes version n to n + 1, so their number is the newest version. Version 0 are tables from before versions
   * were stored: step 0 throws `OlderState` on those that it cannot take over.
   */
  steps: readonly ((sql: SqlStorage) => void)[];
}

/** A step cannot take over what it found. */
export class OlderState extends Error {}

export class RefusedState extends Error {
  readonly age: StateAge;
  constructor(object: string, age: StateAge, detail: string) {
    super(
      age === 'newer'
        ? `${object} holds state of a newer version (${detail}): deploy the newer version again.`
        : `${object} holds state of an older version that this one cannot take over (${detail}): deploy the version that wrote it, or delete the state.`,
    );
    this.age = age;
  }
}

/**
 * Brings the tables of an object to the newest version. Its constructor calls it before it reads anything.
 * @throws RefusedState, with which every call of the object then fails.
 */
export function openObject(state: DurableObjectState, env: ServiceEnv, schema: ObjectSchema): void {
  try {
    migrateObject(state.storage, schema);
  } catch (error) {
    if (!(error instanceof RefusedState)) throw error;
    const name = state.id.name ?? state.id.toString();
    console.error(
      JSON.stringify({
        level: 'error',
        event: 'object-state-refused',
        object: schema.object,
        name,
        message: error.message,
      }),
    );
    state.waitUntil(noteRefusedObject(env, schema.object, name, error.age, Date.now()));
    throw error;
  }
}

/** @throws RefusedState, and changes nothing. */
export function migrateObject(storage: DurableObjectStorage, { object, create, steps }: ObjectSchema): void {
  const { sql } = storage;
  const newest = steps.length;
  const version = storedVersion(sql);
  if (version === newest) return;
  if (version !== null && version > newest) {
    throw new RefusedState(object, 'newer', `${version}, this one reads up to ${newest}`);
  }
  storage.transactionSync(() => {
    if (version === null) create(sql);
    else takeOver(sql, object, steps.slice(version));
    sql.exec('CREATE TABLE IF NOT EXISTS format (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)');
    sql.exec('INSERT OR REPLACE INTO format (one, version) VALUES (1, ?)', newest);
  });
}

function takeOver(sql: SqlStorage, object: string, steps: ObjectSchema['steps']): void {
  try {
    for (const step of steps) step(sql);
  } catch (error) {
    if (error instanceof OlderState) throw new RefusedState(object, 'older', error.message);
    throw error;
  }
}

/** `null`: the object is empty. 0: its tables were made before versions were stored. */
function storedVersion(sql: SqlStorage): number | null {
  const tables = tableNames(sql);
  if (tables.has('format')) return sql.exec<{ version: number }>('SELECT version FROM format').one().version;
  return tables.size === 0 ? null : 0;
}

/** Without the runtime's own. */
export function tableNames(sql: SqlStorage): ReadonlySet<string> {
  const rows = sql.exec<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'`,
  );
  return new Set(rows.toArray().map(({ name }) => name));
}

/** Empty for a table that does not exist. */
export function columnNames(sql: SqlStorage, table: string): ReadonlySet<string> {
  const rows = sql.exec<{ name: string }>('SELECT name FROM pragma_table_info(?)', table);
  return new Set(rows.toArray().map(({ name }) => name));
}
