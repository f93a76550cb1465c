/**
 * The bot table that edges of an account load, opened for questions of its operators. The last one is remembered: a name
 * of a table is the hash of its content, and a table of an account is found by the account's own name for it only.
 */
import { type BotTable, openBotTable } from '../../bots/open-bot-table.ts';
import { botTableFormats } from '../../contract/edge/formats.ts';
import { openSignedRuleset } from '../../rules/signing.ts';
import { COMMON_SCOPE, botTableKey, currentBotTable } from '../../store/d1/bot-tables.ts';
import { verificationKeys } from '../../store/keys/signing-keys.ts';
import type { ServiceStore } from '../environment.ts';

let last: { hash: string; table: BotTable } | null = null;

/** `null` until the service has made the first one. */
export async function accountBotTable(store: ServiceStore, accountId: string, nowMs: number): Promise<BotTable | null> {
  const hash = await currentBotTable(store, accountId, botTableFormats);
  if (hash === null) return null;
  if (last?.hash === hash) return last.table;
  const { RULESETS } = store;
  const file =
    (await RULESETS.get(botTableKey(accountId, hash))) ?? (await RULESETS.get(botTableKey(COMMON_SCOPE, hash)));
  if (file === null) return null;
  const keys = await verificationKeys(store, 'ruleset', nowMs);
  const signed = await openSignedRuleset(
    new Uint8Array(await file.arrayBuffer()),
    new Map(keys.map(({ kid, publicKey }) => [kid, publicKey])),
  );
  const opened = signed.ok ? openBotTable(signed.value.payload) : signed;
  if (!opened.ok) throw new Error(`The bot table cannot be opened: ${opened.error}`);
  last = { hash, table: opened.value };
  return opened.value;
}
