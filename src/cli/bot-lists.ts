/**
 * The commands about bots: the networks that their operators publish (what was read, read again, accept a large change),
 * and the bots that an account adds.
 */
import { botCatalogue } from '../service/bots/bot-catalogue.ts';
import { ownBot } from '../bots/own-bot.ts';
import { OWN_BOTS_MAX, allOwnBots, putOwnBot, removeOwnBot } from '../store/d1/own-bots.ts';
import { acceptPending, rangeStates, readSoon } from '../store/d1/bot-ranges.ts';
import type { StoreEnv } from '../store/binding.ts';
import { CommandError } from './command-line.ts';

const isoTime = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

export async function listBotLists(env: StoreEnv): Promise<unknown> {
  const states = new Map((await rangeStates(env)).map((state) => [state.url, state]));
  return botCatalogue.rangeSources.map(({ url }) => {
    const state = states.get(url);
    return {
      url,
      bots: botCatalogue.bots.filter(({ ranges = [] }) => ranges.includes(url)).map(({ id }) => id),
      networks: state?.networkCount ?? 0,
      confirmedAt: isoTime(state?.confirmedAt),
      changedAt: isoTime(state?.changedAt),
      error: state?.error ?? null,
      waitsForAccept: state?.isPending === 1,
    };
  });
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
    const [issue] = bot.error.issues;
    throw new CommandError(`--bot: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  if (!(await putOwnBot(env, accountId, bot.data))) {
    throw new CommandError(`The account has ${OWN_BOTS_MAX} bots of its own. Remove one first.`);
  }
  return bot.data;
}

export async function removeBot(env: StoreEnv, accountId: string, id: string): Promise<unknown> {
  if (!(await removeOwnBot(env, accountId, id))) throw new CommandError('The account has added no bot with this id');
  return { id, removed: true };
}

export async function listOwnBots(env: StoreEnv, accountId: string): Promise<unknown> {
  return (await allOwnBots(env)).get(accountId) ?? [];
}

function knownUrl(url: string): string {
  if (botCatalogue.rangeSources.some((source) => source.url === url)) return url;
  throw new CommandError('The catalogue has no list at this address. List them with: bots lists');
}
