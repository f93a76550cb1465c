/**
 * The directories of agents as they were last fetched, so that a restart of the service fetches none anew. A failed
 * fetch changes only when the next one is due.
 */
import { statement } from '../sql.ts';
import * as z from 'zod/mini';
import { type BotKey, botKey } from '../../contract/edge/bot-calls.ts';
import type { StoreEnv } from '../binding.ts';

export interface StoredDirectory {
  keys: readonly BotKey[];
  fetchedAt: number;
  freshUntil: number;
  /** 0 where the last attempt did not fail. */
  failedUntil: number;
}

const storedKeys = z.array(botKey);

export async function storedDirectory(env: StoreEnv, directory: string): Promise<StoredDirectory | null> {
  const row = await statement(env)`
    SELECT keys, fetched_at AS fetchedAt, fresh_until AS freshUntil, failed_until AS failedUntil FROM bot_directories
      WHERE directory = ${directory}`.first<Omit<StoredDirectory, 'keys'> & { keys: string }>();
  return row === null ? null : { ...row, keys: storedKeys.parse(JSON.parse(row.keys)) };
}

export async function storeDirectory(
  env: StoreEnv,
  directory: string,
  { keys, fetchedAt, freshUntil }: Omit<StoredDirectory, 'failedUntil'>,
): Promise<void> {
  await statement(env)`
    INSERT OR REPLACE INTO bot_directories (directory, keys, fetched_at, fresh_until) VALUES (${directory},
      ${JSON.stringify(keys)}, ${fetchedAt}, ${freshUntil})`.run();
}

export async function noteDirectoryFailure(env: StoreEnv, directory: string, failedUntil: number): Promise<void> {
  await statement(env)`UPDATE bot_directories SET failed_until = ${failedUntil} WHERE directory = ${directory}`.run();
}

/** Directories that nobody has asked for lately. Those of agents that come are fetched once a day at least. */
export async function purgeDirectories(env: StoreEnv, fetchedBefore: number, rowsMax: number): Promise<void> {
  await statement(env)`
    DELETE FROM bot_directories WHERE directory IN (SELECT directory FROM bot_directories
      WHERE fetched_at < ${fetchedBefore} LIMIT ${rowsMax})`.run();
}
