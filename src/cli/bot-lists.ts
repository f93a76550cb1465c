/** The commands about the networks that operators of bots publish: what was read, read again, accept a large change. */
import { botCatalogue } from '../service/bots/bot-catalogue.ts';
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

function knownUrl(url: string): string {
  if (botCatalogue.rangeSources.some((source) => source.url === url)) return url;
  throw new CommandError('The catalogue has no list at this address. List them with: bots lists');
}
