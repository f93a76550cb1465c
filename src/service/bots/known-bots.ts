/** What an account knows of bots: the catalogue with the bots that it has added, and the lists that operators publish. */
import type { OwnBot } from '../../bots/own-bot.ts';
import type { NamedBehaviour } from '../../contract/vocabulary.ts';
import type { RangeState } from '../../store/d1/bot-ranges.ts';
import { botCatalogue } from './bot-catalogue.ts';

interface KnownBot {
  id: string;
  name: string;
  operator: string | null;
  behaviours: readonly NamedBehaviour[];
  patterns: readonly string[];
  tokens: readonly string[];
  /** Lists that its operator publishes. */
  ranges: readonly string[];
  /** Of an own bot. */
  networks: readonly string[];
  dns: readonly string[];
  agents: readonly string[];
  isComplete: boolean;
  isOwn: boolean;
}

/** What proves a bot: networks, names of its addresses, or signatures. */
export const provedBy = ['range', 'dns', 'signature'] as const;

interface KnownBotFilter {
  /** Of the id, name, operator, a pattern or a token; in any letter case. */
  search?: string | undefined;
  behaviour?: NamedBehaviour | undefined;
  proof?: (typeof provedBy)[number] | undefined;
  isOwn?: boolean | undefined;
}

/** By id. An own bot stands in for the bot of the catalogue that has its id. */
export function knownBots(ownBots: readonly OwnBot[]): KnownBot[] {
  const listed = botCatalogue.bots.map(
    ({ id, name, operator, behaviours, patterns, tokens, ranges, dns, agents, isComplete }) => ({
      id,
      name,
      operator: operator ?? null,
      behaviours,
      patterns,
      tokens,
      ranges: ranges ?? [],
      networks: [],
      dns: dns ?? [],
      agents: agents ?? [],
      isComplete: isComplete === true,
      isOwn: false,
    }),
  );
  const own = ownBots.map((bot) => ({
    ...bot,
    name: bot.id,
    operator: null,
    ranges: [],
    dns: [],
    agents: [],
    isOwn: true,
  }));
  const byId = new Map<string, KnownBot>([...listed, ...own].map((bot) => [bot.id, bot]));
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export function filteredBots(bots: readonly KnownBot[], filter: KnownBotFilter): KnownBot[] {
  const search = filter.search?.toLowerCase() ?? '';
  return bots.filter(
    (bot) =>
      (filter.behaviour === undefined || bot.behaviours.includes(filter.behaviour)) &&
      (filter.isOwn === undefined || bot.isOwn === filter.isOwn) &&
      (filter.proof === undefined || proofsOf(bot)[filter.proof].length > 0) &&
      [bot.id, bot.name, bot.operator ?? '', ...bot.patterns, ...bot.tokens].some((text) =>
        text.toLowerCase().includes(search),
      ),
  );
}

const proofsOf = ({ ranges, networks, dns, agents }: KnownBot) => ({
  range: [...ranges, ...networks],
  dns,
  signature: agents,
});

interface PublishedList {
  url: string;
  /** Ids of the bots that its networks prove. */
  bots: string[];
  networkCount: number;
  /** Epoch milliseconds. `null`: never. */
  confirmedAt: number | null;
  triedAt: number | null;
  changedAt: number | null;
  /** Why the last reading gave no list. */
  error: string | null;
  waitsForAccept: boolean;
}

/** Every list of the catalogue, read or not. */
export function publishedLists(states: readonly RangeState[]): PublishedList[] {
  const byUrl = new Map(states.map((state) => [state.url, state]));
  return botCatalogue.rangeSources.map(({ url }) => {
    const state = byUrl.get(url);
    return {
      url,
      bots: botCatalogue.bots.filter(({ ranges = [] }) => ranges.includes(url)).map(({ id }) => id),
      networkCount: state?.networkCount ?? 0,
      confirmedAt: state?.confirmedAt ?? null,
      triedAt: state?.triedAt ?? null,
      changedAt: state?.changedAt ?? null,
      error: state?.error ?? null,
      waitsForAccept: state?.isPending === 1,
    };
  });
}
