/** Which compiled bot table edges load. The files are in R2. */
import type { StoreEnv } from '../binding.ts';

/** The table of accounts that have no bots of their own. */
export const COMMON_SCOPE = '';

export interface BotTableRow {
  hash: string;
  previousHash: string | null;
  inputs: string;
}

export function botTableKey(scope: string, hash: string): string {
  return `bots/${scope === COMMON_SCOPE ? 'common' : scope}/${hash}`;
}

/** The name of the table that edges of an account load: its own, or the common one. */
export async function currentBotTable(env: StoreEnv, accountId: string): Promise<string | null> {
  const row = await env.DB.prepare('SELECT hash FROM bot_tables WHERE scope IN (?, ?) ORDER BY scope DESC LIMIT 1')
    .bind(accountId, COMMON_SCOPE)
    .first<{ hash: string }>();
  return row?.hash ?? null;
}

/** By scope: those of every scope, or of one. */
export async function botTables(env: StoreEnv, scope: string | null = null): Promise<Map<string, BotTableRow>> {
  const { results } = await env.DB.prepare(
    'SELECT scope, hash, previous_hash AS previousHash, inputs FROM bot_tables WHERE ?1 IS NULL OR scope = ?1',
  )
    .bind(scope)
    .all<BotTableRow & { scope: string }>();
  return new Map(results.map(({ scope: of, ...row }) => [of, row]));
}

/** An account without bots of its own loads the common table. Returns whether `hash` was still its own. */
export async function withdrawBotTable(env: StoreEnv, scope: string, hash: string): Promise<boolean> {
  const { meta } = await env.DB.prepare('DELETE FROM bot_tables WHERE scope = ? AND hash = ?').bind(scope, hash).run();
  return meta.changes === 1;
}

/**
 * The table before stays, for edges that have just read its name. Returns `false`, and changes nothing, when `current`
 * is no longer the name of the scope's table: somebody else has compiled one, perhaps from newer bots.
 */
export async function publishBotTable(
  env: StoreEnv,
  scope: string,
  { hash, inputs, current }: Pick<BotTableRow, 'hash' | 'inputs'> & { current: string | null },
  nowMs: number,
): Promise<boolean> {
  const { meta } = await env.DB.prepare(
    `INSERT INTO bot_tables (scope, hash, inputs, built_at) SELECT ?1, ?2, ?3, ?4
     WHERE (SELECT hash FROM bot_tables WHERE scope = ?1) IS ?5
     ON CONFLICT (scope) DO UPDATE SET previous_hash = hash, hash = excluded.hash, inputs = excluded.inputs,
       built_at = excluded.built_at`,
  )
    .bind(scope, hash, inputs, nowMs, current)
    .run();
  return meta.changes === 1;
}
