/**
 * Compiles the bot tables that edges load, when the catalogue, a list of networks or an account's own bots have changed:
 * one for everybody, and one for each account that has bots of its own, in each format of this release. The key of the
 * rulesets signs them, and each begins with the name of its format, so an edge never takes one for a ruleset.
 *
 * The scheduled run and a write of an account can compile the same table at once. Each reads the name of the table first
 * and publishes only while that is still its name, so that one made of older bots never replaces a newer one.
 */
import { encodeBotTable } from '../../bots/encode-bot-table.ts';
import { listedOwnBot, type OwnBot } from '../../bots/own-bot.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { signRulesetFile } from '../../rules/signing.ts';
import { botTableFormats } from '../../contract/edge/formats.ts';
import { rangeVersions, readRanges } from '../../store/d1/bot-ranges.ts';
import {
  botTableKey,
  type BotTableRow,
  botTables,
  COMMON_SCOPE,
  publishBotTable,
  withdrawBotTable,
} from '../../store/d1/bot-tables.ts';
import { ownBotsInUse } from '../../store/d1/own-bots.ts';
import { signingKey } from '../../store/keys/signing-keys.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue, catalogueVersion } from './bot-catalogue.ts';

/** Each takes some ten milliseconds; the next run continues. */
const TABLES_PER_RUN = 20;
/** Each failed attempt means that somebody else has published a table of the account. */
const ATTEMPTS_MAX = 5;

type Published = ReadonlyMap<string, readonly string[]>;

export async function buildBotTables(store: ServiceStore, nowMs: number): Promise<void> {
  const tables = await botTables(store);
  const [versions, ownBots] = await Promise.all([rangeVersions(store), ownBotsInUse(store)]);
  const scopes = new Map<string, readonly OwnBot[]>([[COMMON_SCOPE, []], ...ownBots]);
  let published: Published | null = null;
  let built = 0;
  for (const [scope, own] of scopes) {
    for (const format of botTableFormats) {
      const inputs = await inputsOf(format, versions, own);
      const current = tableIn(tables, scope, format);
      if (current?.inputs === inputs) continue;
      if ((built += 1) > TABLES_PER_RUN) return;
      published ??= await readRanges(store);
      await build(store, { scope, format, own, published, inputs, current }, nowMs);
    }
  }
  for (const table of tables) {
    if (!scopes.has(table.scope) || !botTableFormats.includes(table.format)) await withdraw(store, table);
  }
}

function tableIn(tables: readonly BotTableRow[], scope: string, format: string): BotTableRow | undefined {
  return tables.find((table) => table.scope === scope && table.format === format);
}

/**
 * After a write of the account's bots, so that its edges take the table with their next poll. The write has happened: where
 * the table cannot be made now, the scheduled run makes it.
 */
export async function offerAccountTable(store: ServiceStore, accountId: string, nowMs: number): Promise<void> {
  try {
    for (const format of botTableFormats) await buildAccountTable(store, accountId, format, nowMs);
  } catch (error) {
    console.error(JSON.stringify({ event: 'bot-table-failed', accountId, message: String(error) }));
  }
}

async function buildAccountTable(store: ServiceStore, accountId: string, format: string, nowMs: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const current = tableIn(await botTables(store, accountId), accountId, format);
    const [versions, ownBots] = await Promise.all([rangeVersions(store), ownBotsInUse(store, accountId)]);
    const own = ownBots.get(accountId);
    if (own === undefined) {
      if (current === undefined || (await withdraw(store, current))) return;
      continue;
    }
    const inputs = await inputsOf(format, versions, own);
    if (current?.inputs === inputs) return;
    const published = await readRanges(store);
    if (await build(store, { scope: accountId, format, own, published, inputs, current }, nowMs)) return;
  }
}

async function inputsOf(
  format: string,
  versions: Awaited<ReturnType<typeof rangeVersions>>,
  own: readonly OwnBot[],
): Promise<string> {
  return sha256Hex(JSON.stringify([format, await catalogueVersion(), versions, own]));
}

interface Parts {
  scope: string;
  format: string;
  own: readonly OwnBot[];
  published: Published;
  inputs: string;
  current: BotTableRow | undefined;
}

/** Returns whether the table was published. */
async function build(
  store: ServiceStore,
  { scope, format, own, published, inputs, current }: Parts,
  nowMs: number,
): Promise<boolean> {
  const listed = own.map(listedOwnBot);
  const bots = [...botCatalogue.bots, ...listed.map(({ bot }) => bot)];
  const networks = new Map([...published, ...listed.map((one) => [one.source, one.networks] as const)]);
  const table = encodeBotTable({ builtAtMs: nowMs, bots, networks }, format);
  const { file, hash } = await signRulesetFile(table, await signingKey(store, 'ruleset', nowMs));
  await store.RULESETS.put(botTableKey(scope, hash), file);
  const isPublished = await publishBotTable(
    store,
    { scope, format, hash, inputs, current: current?.hash ?? null },
    nowMs,
  );
  const unused = isPublished ? (current?.previousHash ?? null) : hash;
  if (unused !== null) await deleteUnused(store, scope, unused);
  return isPublished;
}

/** Two that compile the same bots within one millisecond make the same file, so a name is looked up before it is deleted. */
async function deleteUnused(store: ServiceStore, scope: string, unused: string): Promise<void> {
  const now = await botTables(store, scope);
  const isUsed = now.some(({ hash, previousHash }) => hash === unused || previousHash === unused);
  if (!isUsed) await store.RULESETS.delete(botTableKey(scope, unused));
}

async function withdraw(store: ServiceStore, table: BotTableRow): Promise<boolean> {
  if (!(await withdrawBotTable(store, table))) return false;
  const { scope, hash, previousHash } = table;
  const unused = [hash, ...(previousHash === null ? [] : [previousHash])];
  await store.RULESETS.delete(unused.map((one) => botTableKey(scope, one)));
  return true;
}
