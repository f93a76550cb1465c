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

export function currentBotTable(env: StoreEnv, scope: string): Promise<BotTableRow | null> {
  return env.DB.prepare('SELECT hash, previous_hash AS previousHash, inputs FROM bot_tables WHERE scope = ?')
    .bind(scope)
    .first<BotTableRow>();
}

/** The table before stays, for edges that have just read its name. */
export async function publishBotTable(
  env: StoreEnv,
  scope: string,
  { hash, inputs }: Pick<BotTableRow, 'hash' | 'inputs'>,
  nowMs: number,
): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO bot_tables (scope, hash, inputs, built_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (scope) DO UPDATE SET previous_hash = hash, hash = excluded.hash, inputs = excluded.inputs,
       built_at = excluded.built_at`,
  )
    .bind(scope, hash, inputs, nowMs)
    .run();
}
