/**
 * The commands about bots: the catalogue, the networks that operators publish (what was read, read again, accept a large
 * change), and the bots that an account adds. The lists are everybody's, so only the operator of the service changes them.
 */
import { namedBehaviours } from '../../contract/vocabulary.ts';
import { botCatalogue } from '../../service/bots/bot-catalogue.ts';
import { filteredBots, knownBots, publishedLists } from '../../service/bots/known-bots.ts';
import { ownBot } from '../../bots/own-bot.ts';
import { OWN_BOTS_MAX, ownBotsOf, putOwnBot, removeOwnBot } from '../../store/d1/own-bots.ts';
import { acceptPending, rangeStates, readSoon } from '../../store/d1/bot-ranges.ts';
import type { StoreEnv } from '../../store/binding.ts';
import { CommandError } from '../command-line.ts';

const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** The words of the API, with times for people. */
export async function listBotLists(env: StoreEnv): Promise<unknown> {
  return publishedLists(await rangeStates(env)).map(({ confirmedAt, triedAt, changedAt, ...list }) => ({
    ...list,
    confirmedAt: isoTime(confirmedAt),
    triedAt: isoTime(triedAt),
    changedAt: isoTime(changedAt),
  }));
}

export async function findBots(
  env: StoreEnv,
  filter: { accountId: string | null; search: string | undefined; behaviour: string | undefined },
): Promise<unknown> {
  const behaviour = namedBehaviours.find((one) => one === filter.behaviour);
  if (filter.behaviour !== undefined && behaviour === undefined) {
    throw new CommandError(`--behaviour is one of ${namedBehaviours.join(', ')}`);
  }
  const own = filter.accountId === null ? [] : await ownBotsOf(env, filter.accountId);
  return filteredBots(knownBots(own), { search: filter.search, behaviour });
}

export async function readBotList(env: StoreEnv, url: string): Promise<unknown> {
  await readSoon(env, knownUrl(url));
  return { url, read: 'with the next scheduled run' };
}

export async function acceptBotList(env: StoreEnv, url: string, nowMs: number): Promise<unknown> {
  if (!(await acceptPending(env, knownUrl(url), nowMs))) {
    throw new CommandError('No changed list waits at this address. List them with: bots lists');
  }
  return { url, accepted: true };
}

export async function addOwnBot(env: StoreEnv, accountId: string, document: object): Promise<unknown> {
  const bot = ownBot.safeParse(document);
  if (!bot.success) {
    const faults = bot.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
    throw new CommandError(`--bot: ${faults.join('; ')}`);
  }
  if (!(await putOwnBot(env, accountId, bot.data))) {
    throw new CommandError(`The account has ${OWN_BOTS_MAX} bots of its own. Remove one first.`);
  }
  return bot.data;
}

export async function removeBot(env: StoreEnv, accountId: string, id: string): Promise<unknown> {
  if (!(await removeOwnBot(env, accountId, id))) throw new CommandError('The account has added no bot with this id');
  return { success: true, id };
}

function knownUrl(url: string): string {
  if (botCatalogue.rangeSources.some((source) => source.url === url)) return url;
  throw new CommandError('The catalogue has no list at this address. List them with: bots lists');
}
