/**
 * The root of every key of a deployment: 32 random bytes made once, kept in D1 sealed under MASTER_KEY. Rows are
 * sealed and keys derived under the root and not under MASTER_KEY, so that MASTER_KEY can be exchanged by writing
 * one row: no token, cookie, API key or sealed row notices, and whoever learnt a MASTER_KEY that was exchanged
 * since, but never saw the database under it, has nothing.
 */
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, randomToken, sealAtRest } from './master-key.ts';

const ROOT_KEY_BYTES = 32;
const CONTEXT = 'root_key.sealed:1';

/** Settled values only, by database and key: tests and the CLI open several in one process. */
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
 * Seals the root under MASTER_KEY. One statement over the row that was read: whoever is interrupted has changed
 * all or nothing, and of two at once one wins and the other says so.
 * @returns `'unchanged'` when the row is sealed under MASTER_KEY already.
 */
export async function resealRootKey(
  env: StoreEnv,
  nowMs: number,
): Promise<Result<'resealed' | 'unchanged', 'conflict'>> {
  const row = (await storedRow(env)) ?? (await createdRow(env));
  const { root, current } = await openedRow(env, row);
  if (current) return ok('unchanged');
  const sealed = await sealAtRest(env.MASTER_KEY, CONTEXT, root);
  const { meta } = await env.DB.prepare('UPDATE root_key SET sealed = ?, resealed_at = ? WHERE sealed = ?')
    .bind(sealed, nowMs, row)
    .run();
  return meta.changes === 1 ? ok('resealed') : failed('conflict');
}

async function openedRow(env: StoreEnv, sealed: string): Promise<{ root: string; current: boolean }> {
  try {
    return { root: await openAtRest(env.MASTER_KEY, CONTEXT, sealed), current: true };
  } catch (error) {
    if (env.MASTER_KEY_PREVIOUS === undefined || env.MASTER_KEY_PREVIOUS === '') {
      throw new Error('MASTER_KEY is not the one this database was sealed under', { cause: error });
    }
  }
  try {
    return { root: await openAtRest(env.MASTER_KEY_PREVIOUS, CONTEXT, sealed), current: false };
  } catch (error) {
    throw new Error('Neither MASTER_KEY nor MASTER_KEY_PREVIOUS is the one this database was sealed under', {
      cause: error,
    });
  }
}

async function storedRow(env: StoreEnv): Promise<string | null> {
  const row = await env.DB.prepare('SELECT sealed FROM root_key WHERE id = 1').first<{ sealed: string }>();
  return row?.sealed ?? null;
}

async function createdRow(env: StoreEnv): Promise<string> {
  const sealed = await sealAtRest(env.MASTER_KEY, CONTEXT, randomToken(ROOT_KEY_BYTES));
  const nowMs = Date.now();
  await env.DB.prepare(
    'INSERT INTO root_key (id, sealed, created_at, resealed_at) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
    .bind(sealed, nowMs, nowMs)
    .run();
  // Another isolate may have been first: everybody takes what is there.
  const row = await storedRow(env);
  if (row === null) throw new Error('root_key has no row after inserting it');
  return row;
}
