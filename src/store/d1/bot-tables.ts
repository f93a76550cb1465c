/** Which compiled bot table edges load, in each format. The files are in R2. */
import { statement } from '../sql.ts';
import type { StoreEnv } from '../binding.ts';

/** The table of accounts that have no bots of their own. */
export const COMMON_SCOPE = '';

export interface BotTableRow {
  scope: string;
  format: string;
  hash: string;
  previousHash: string | null;
  inputs: string;
}

export function botTableKey(scope: string, hash: string): string {
  return `bots/${scope === COMMON_SCOPE ? 'common' : scope}/${hash}`;
}

/**
 * The name of the table that edges of an account load: its own, or the common one, in the first of these formats that was
 * compiled. After an upgrade of the service, its newest format is there from the next scheduled run on.
 */
export async function currentBotTable(
  env: StoreEnv,
  accountId: string,
  formats: readonly string[],
): Promise<string | null> {
  const { results } = await statement(env)`
    SELECT scope, format, hash FROM bot_tables
    WHERE scope IN (${accountId}, ${COMMON_SCOPE})`.all<{ scope: string; format: string; hash: string }>();
  for (const scope of [accountId, COMMON_SCOPE]) {
    for (const format of formats) {
      const row = results.find((one) => one.scope === scope && one.format === format);
      if (row) return row.hash;
    }
  }
  return null;
}

/** Those of every scope, or of one. */
export async function botTables(env: StoreEnv, scope: string | null = null): Promise<BotTableRow[]> {
  const { results } = await statement(env)`
    SELECT scope, format, hash, previous_hash AS previousHash, inputs FROM bot_tables
    WHERE ${scope} IS NULL OR scope = ${scope}`.all<BotTableRow>();
  return results;
}

/** An account without bots of its own loads the common table. Returns whether `hash` was still its own. */
export async function withdrawBotTable(env: StoreEnv, { scope, format, hash }: BotTableRow): Promise<boolean> {
  const { meta } = await statement(env)`
    DELETE FROM bot_tables WHERE scope = ${scope} AND format = ${format} AND hash = ${hash}`.run();
  return meta.changes === 1;
}

/**
 * The table before stays, for edges that have just read its name. Returns `false`, and changes nothing, when `current`
 * is no longer the name of the scope's table: somebody else has compiled one, perhaps from newer bots.
 */
export async function publishBotTable(
  env: StoreEnv,
  { scope, format, hash, inputs, current }: Omit<BotTableRow, 'previousHash'> & { current: string | null },
  nowMs: number,
): Promise<boolean> {
  const { meta } = await statement(env)`
    INSERT INTO bot_tables (scope, format, hash, inputs, built_at) SELECT ${scope}, ${format}, ${hash}, ${inputs},
      ${nowMs}
    WHERE (SELECT hash FROM bot_tables WHERE scope = ${scope} AND format = ${format}) IS ${current}
    ON CONFLICT (scope, format) DO UPDATE SET previous_hash = hash, hash = excluded.hash, inputs = excluded.inputs,
      built_at = excluded.built_at`.run();
  return meta.changes === 1;
}
