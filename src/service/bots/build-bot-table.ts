/**
 * Compiles the bot tables that edges load, when the catalogue, a list of networks or an account's own bots have changed:
 * one for everybody, and one for each account that has bots of its own. They are signed with the key of the rulesets.
 * Their magic is another one, so an edge never takes one for the other.
 */
import { encodeBotTable } from '../../bots/encode-bot-table.ts';
import { listedOwnBot } from '../../bots/own-bot.ts';
import type { OwnBot } from '../../bots/own-bot.ts';
import { sha256Hex } from '../../bytes/sha256-hex.ts';
import { signRulesetFile } from '../../rules/signing.ts';
import { rangeVersions, readRanges } from '../../store/d1/bot-ranges.ts';
import { COMMON_SCOPE, botTableKey, botTables, publishBotTable, withdrawBotTable } from '../../store/d1/bot-tables.ts';
import type { BotTableRow } from '../../store/d1/bot-tables.ts';
import { allOwnBots } from '../../store/d1/own-bots.ts';
import { signingKey } from '../../store/keys/signing-keys.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue, catalogueVersion } from './bot-catalogue.ts';

/** Each takes some ten milliseconds; the next run continues. */
const TABLES_PER_RUN = 20;

export async function buildBotTables(store: ServiceStore, nowMs: number): Promise<void> {
  const [tables, versions, catalogue, ownBots] = await Promise.all([
    botTables(store),
    rangeVersions(store),
    catalogueVersion(),
    allOwnBots(store),
  ]);
  const scopes = new Map<string, readonly OwnBot[]>([[COMMON_SCOPE, []], ...ownBots]);
  let published: ReadonlyMap<string, readonly string[]> | null = null;
  let built = 0;
  for (const [scope, own] of scopes) {
    const inputs = await sha256Hex(JSON.stringify([catalogue, versions, own]));
    const current = tables.get(scope);
    if (current?.inputs === inputs) continue;
    if ((built += 1) > TABLES_PER_RUN) return;
    published ??= await readRanges(store);
    await build(store, scope, { own, published, inputs, current }, nowMs);
  }
  for (const [scope, { hash, previousHash }] of tables) {
    if (scopes.has(scope)) continue;
    await withdrawBotTable(store, scope);
    const unused = [hash, ...(previousHash === null ? [] : [previousHash])];
    await store.RULESETS.delete(unused.map((one) => botTableKey(scope, one)));
  }
}

interface Parts {
  own: readonly OwnBot[];
  published: ReadonlyMap<string, readonly string[]>;
  inputs: string;
  current: BotTableRow | undefined;
}

async function build(
  store: ServiceStore,
  scope: string,
  { own, published, inputs, current }: Parts,
  nowMs: number,
): Promise<void> {
  const listed = own.map(listedOwnBot);
  const bots = [...botCatalogue.bots, ...listed.map(({ bot }) => bot)];
  const networks = new Map([...published, ...listed.map((one) => [one.source, one.networks] as const)]);
  const table = encodeBotTable({ builtAtMs: nowMs, bots, networks });
  const { file, hash } = await signRulesetFile(table, await signingKey(store, 'ruleset', nowMs));
  await store.RULESETS.put(botTableKey(scope, hash), file);
  await publishBotTable(store, scope, { hash, inputs }, nowMs);
  const unused = current?.previousHash ?? null;
  if (unused !== null) await store.RULESETS.delete(botTableKey(scope, unused));
}
