/**
 * Compiles the bot table that edges load, when the catalogue or a list of networks has changed. It is signed with the key
 * of the rulesets. Its magic is another one, so an edge never takes one for the other.
 */
import { encodeBotTable } from '../../bots/encode-bot-table.ts';
import { sha256Hex } from '../../bytes/sha256-hex.ts';
import { signRulesetFile } from '../../rules/signing.ts';
import { rangeVersions, readRanges } from '../../store/d1/bot-ranges.ts';
import { COMMON_SCOPE, botTableKey, currentBotTable, publishBotTable } from '../../store/d1/bot-tables.ts';
import { signingKey } from '../../store/keys/signing-keys.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue, catalogueVersion } from './bot-catalogue.ts';

export async function buildBotTable(store: ServiceStore, nowMs: number): Promise<void> {
  const [current, versions, catalogue] = await Promise.all([
    currentBotTable(store, COMMON_SCOPE),
    rangeVersions(store),
    catalogueVersion(),
  ]);
  const inputs = await sha256Hex(JSON.stringify([catalogue, versions]));
  if (current?.inputs === inputs) return;
  const table = encodeBotTable({ builtAtMs: nowMs, bots: botCatalogue.bots, networks: await readRanges(store) });
  const { file, hash } = await signRulesetFile(table, await signingKey(store, 'ruleset', nowMs));
  await store.RULESETS.put(botTableKey(COMMON_SCOPE, hash), file);
  await publishBotTable(store, COMMON_SCOPE, { hash, inputs }, nowMs);
  const unused = current?.previousHash ?? null;
  if (unused !== null) await store.RULESETS.delete(botTableKey(COMMON_SCOPE, unused));
}
