/** The bots that accounts add to the catalogue. */
import { statement } from '../sql.ts';
import type { OwnBot } from '../../bots/own-bot.ts';
import type { StoreEnv } from '../binding.ts';

export const OWN_BOTS_MAX = 100;

/** The bots that an account has added, by id. */
export async function ownBotsOf(env: StoreEnv, accountId: string): Promise<OwnBot[]> {
  const { results } = await statement(env)`
    SELECT document FROM own_bots WHERE account_id = ${accountId} ORDER BY id`.all<{ document: string }>();
  return results.map(({ document }) => JSON.parse(document) as OwnBot);
}

/**
 * The bots for which edges need a table, by account. An account without an active instance has no edges, and those of a
 * disabled account are refused.
 */
export async function ownBotsInUse(env: StoreEnv, accountId: string | null = null): Promise<Map<string, OwnBot[]>> {
  const { results } = await statement(env)`
    SELECT account_id AS accountId, document FROM own_bots
    WHERE (${accountId} IS NULL OR account_id = ${accountId}) AND account_id IN (
      SELECT account_id FROM protect_instances JOIN accounts ON accounts.id = account_id
      WHERE active = 1 AND disabled = 0)
    ORDER BY account_id, id`.all<{ accountId: string; document: string }>();
  const byAccount = new Map<string, OwnBot[]>();
  for (const { accountId: account, document } of results) {
    const bots = byAccount.get(account) ?? [];
    bots.push(JSON.parse(document) as OwnBot);
    byAccount.set(account, bots);
  }
  return byAccount;
}

/** Adds or replaces a bot. Returns whether the account has room for it. */
export async function putOwnBot(env: StoreEnv, accountId: string, bot: OwnBot): Promise<boolean> {
  const { meta } = await statement(env)`
    INSERT INTO own_bots (account_id, id, document) SELECT ${accountId}, ${bot.id}, ${JSON.stringify(bot)}
    WHERE (SELECT count(*) FROM own_bots WHERE account_id = ${accountId} AND id <> ${bot.id}) < ${OWN_BOTS_MAX}
    ON CONFLICT (account_id, id) DO UPDATE SET document = excluded.document`.run();
  return meta.changes === 1;
}

export async function removeOwnBot(env: StoreEnv, accountId: string, id: string): Promise<boolean> {
  const { meta } = await statement(env)`DELETE FROM own_bots WHERE account_id = ${accountId} AND id = ${id}`.run();
  return meta.changes === 1;
}
