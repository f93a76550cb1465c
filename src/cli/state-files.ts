/**
 * What a state directory may hold. A stack deletes and overwrites files in it, so it works only on a directory that is
 * its own, and it deletes only files that it knows. A file that it cannot use is one sentence for the operator, before
 * a Worker opens it: the runtime says "internal error", or starts with an empty database.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  type Dirent,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from './failure.ts';

/** A state directory that cannot be used. The message is complete: what is wrong, then what to do. */
export class StateError extends OperatorError {}

/** The file that makes a directory a state directory: without its key, nothing else in it can be read. */
export const SECRETS_FILE = 'secrets.json';

/** Names the process that has the directory. */
export const OWNER_FILE = 'owner.json';

/** `.123` is the draft of a process that was killed while it wrote the file. */
const ownFile = /^(secrets|seed|stack|control|owner)\.json(\.\d+)*$/;
const ownerFile = /^owner\.json(\.\d+)*$/;
const storages = ['edge', 'service'];
/** What the simulator writes below a storage: databases with their journals, and objects. */
const simulatorFile = /\.sqlite(-wal|-shm|-journal)?$/;
const OBJECTS_DIR = 'blobs';

const SQLITE_MAGIC = 'SQLite format 3\0';
/** A larger database, such as a long verdict log, takes seconds to check: only its first bytes are read. */
const CHECKED_DATABASE_MAX_BYTES = 64 * 1024 * 1024;

export function damaged(path: string, dir: string): StateError {
  return new StateError(
    `${path} is damaged. Restore it from a copy, or start with --fresh, which deletes everything in ${dir}.`,
  );
}

/** Two files that are not of one stack, such as after a restored copy of one of them. */
export function mismatch(dir: string, name: string): StateError {
  return new StateError(
    `${join(dir, name)} does not belong to the database in ${dir}. Restore both from one copy, or start with --fresh, which deletes everything in ${dir}.`,
  );
}

/** Runs a step on the file system. An error of it names the path and the cause, such as a missing permission. */
export function onDisk<Value>(path: string, step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof StateError) throw error;
    throw new StateError(`${path} cannot be used: ${message}. Correct that, or choose another directory with --state.`);
  }
}

/** @throws StateError unless the directory is empty, a state directory, or missing in a directory that exists. */
export function mustBeOwn(dir: string): void {
  const entries = entriesOf(dir);
  if (entries === null) {
    if (entriesOf(dirname(dir)) !== null) return;
    throw new StateError(`${dirname(dir)} does not exist. Create it, or choose another directory with --state.`);
  }
  // A stack that was killed at once has left its name at most.
  const isNew = entries.every((entry) => ownerFile.test(entry.name));
  if (isNew || entries.some((entry) => entry.name === SECRETS_FILE && entry.isFile())) return;
  throw new StateError(`${dir} has files that are not of a local stack. Choose another directory with --state.`);
}

/**
 * Deletes what a stack has written, and keeps the directory and the name of its owner. `hasSecrets`: whether the secrets are what a stack wrote. If
 * they are damaged, a database must prove that the directory is of a stack.
 * @throws StateError before it deletes anything when there is one file that no stack writes.
 */
export function deleteOwn(dir: string, hasSecrets: boolean): void {
  const entries = entriesOf(dir);
  const proven = hasSecrets || entriesOf(join(dir, 'service', 'd1')) !== null;
  const foreign = proven ? foreignFile(dir) : join(dir, SECRETS_FILE);
  if (foreign !== null) {
    throw new StateError(
      `--fresh deletes nothing, because ${foreign} is not a file of a local stack. Move it, or choose another directory with --state.`,
    );
  }
  onDisk(dir, () => {
    for (const { name } of entries ?? []) {
      if (name !== OWNER_FILE) rmSync(join(dir, name), { recursive: true, force: true });
    }
  });
}

/** @throws StateError when a database is damaged, or when a file or directory of a Worker cannot be written. */
export function mustBeUsable(dir: string): void {
  onDisk(dir, () => accessSync(dir, constants.W_OK));
  for (const storage of storages) {
    const path = join(dir, storage);
    if (entriesOf(path) === null) continue;
    onDisk(path, () => accessSync(path, constants.W_OK));
    for (const entry of below(path)) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) onDisk(file, () => accessSync(file, constants.W_OK));
      if (!entry.name.endsWith('.sqlite')) continue;
      onDisk(file, () => accessSync(file, constants.W_OK));
      if (!isDatabase(file)) throw damaged(file, dir);
    }
  }
}

function foreignFile(dir: string): string | null {
  for (const entry of entriesOf(dir) ?? []) {
    const path = join(dir, entry.name);
    if (entry.isFile() && ownFile.test(entry.name)) continue;
    if (!entry.isDirectory() || !storages.includes(entry.name)) return path;
    const foreign = below(path).find((inner) => !isOfSimulator(inner));
    if (foreign) return join(foreign.parentPath, foreign.name);
  }
  return null;
}

function isOfSimulator(entry: Dirent): boolean {
  if (entry.isDirectory()) return true;
  return entry.isFile() && (simulatorFile.test(entry.name) || basename(entry.parentPath) === OBJECTS_DIR);
}

/** `null` when there is no such directory. */
function entriesOf(dir: string): Dirent[] | null {
  return onDisk(dir, () => (existsSync(dir) ? readdirSync(dir, { withFileTypes: true }) : null));
}

/** Everything below a directory. Links are not followed, which `recursive` would do. */
function below(dir: string): Dirent[] {
  const entries = onDisk(dir, () => readdirSync(dir, { withFileTypes: true }));
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry, ...below(join(dir, entry.name))] : [entry]));
}

function isDatabase(file: string): boolean {
  const { size } = statSync(file);
  // A database is empty until its first table.
  if (size === 0) return true;
  if (size > CHECKED_DATABASE_MAX_BYTES) return hasMagic(file);
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

function hasMagic(file: string): boolean {
  const start = Buffer.alloc(SQLITE_MAGIC.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, start, 0, start.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return start.toString('latin1') === SQLITE_MAGIC;
}
