/**
 * The root of every key of a deployment: 32 random bytes, made once and stored in D1 sealed under MASTER_KEY. Rows are
 * sealed and keys are derived under the root key, so that rotating MASTER_KEY rewrites one row: tokens, cookies, API
 * keys and sealed rows stay valid. An old MASTER_KEY is useless without a database copy from its time.
 */
import { statement } from '../sql.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, randomToken, sealAtRest } from './master-key.ts';

const ROOT_KEY_BYTES = 32;
const CONTEXT = 'root_key.sealed:1';

/** Resolved values only, by database and key: tests and the CLI open several databases in one process. */
const memos = new WeakMap<object, { masterKey: string; root: string }>();

/** @throws when neither MASTER_KEY nor MASTER_KEY_PREVIOUS opens the row. */
export async function rootKey(env: StoreEnv): Promise<string> {
  const kept = memos.get(env.DB);
  if (kept?.masterKey === env.MASTER_KEY) return kept.root;
  const row = (await storedRow(env)) ?? (await createdRow(env));
  const { root } = await openedRow(env, row);
  memos.set(env.DB, { masterKey: env.MASTER_KEY, root });
  return root;
}

/**
 * Seals the root key under MASTER_KEY. One statement compares the row that was read, so an interrupted call changes all
 * or nothing, and of two parallel calls one fails with `'conflict'`.
 * Returns `'unchanged'` when the row is already sealed under MASTER_KEY.
 */
export async function resealRootKey(
  env: StoreEnv,
  nowMs: number,
): Promise<Result<'resealed' | 'unchanged', 'conflict'>> {
  const row = (await storedRow(env)) ?? (await createdRow(env));
  const { root, current } = await openedRow(env, row);
  if (current) return ok('unchanged');
  const sealed = await sealAtRest(env.MASTER_KEY, CONTEXT, root);
  const { meta } = await statement(env)`
    UPDATE root_key SET sealed = ${sealed}, resealed_at = ${nowMs} WHERE sealed = ${row}`.run();
  return meta.changes === 1 ? ok('resealed') : failed('conflict');
}

async function openedRow(env: StoreEnv, sealed: string): Promise<{ root: string; current: boolean }> {
  try {
    return { root: await openAtRest(env.MASTER_KEY, CONTEXT, sealed), current: true };
  } catch (error) {
    if (env.MASTER_KEY_PREVIOUS === undefined || env.MASTER_KEY_PREVIOUS === '') {
      throw new Error('This database is sealed under another MASTER_KEY', { cause: error });
    }
  }
  try {
    return { root: await openAtRest(env.MASTER_KEY_PREVIOUS, CONTEXT, sealed), current: false };
  } catch (error) {
    throw new Error('This database is sealed under neither MASTER_KEY nor MASTER_KEY_PREVIOUS', {
      cause: error,
    });
  }
}

async function storedRow(env: StoreEnv): Promise<string | null> {
  const row = await statement(env)`SELECT sealed FROM root_key WHERE id = 1`.first<{ sealed: string }>();
  return row?.sealed ?? null;
}

async function createdRow(env: StoreEnv): Promise<string> {
  const sealed = await sealAtRest(env.MASTER_KEY, CONTEXT, randomToken(ROOT_KEY_BYTES));
  const nowMs = Date.now();
  await statement(env)`
    INSERT INTO root_key (id, sealed, created_at, resealed_at) VALUES (1, ${sealed}, ${nowMs}, ${nowMs})
      ON CONFLICT DO NOTHING`.run();
  // Another isolate may have inserted its row first: all isolates use the stored row.
  const row = await storedRow(env);
  if (row === null) throw new Error('root_key has no row after inserting it');
  return row;
}
