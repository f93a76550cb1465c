/** The robots.txt of an instance: the origin's, merged with the policy as it is now, for every bot that the account knows. */
import { contentNotes } from '../../bots/robots/content-notes.ts';
import { mergeRobots } from '../../bots/robots/merge-robots.ts';
import { robotsGroups } from '../../bots/robots/robots-groups.ts';
import type { NamedBot } from '../../bots/robots/robots-groups.ts';
import type { BotPolicy } from '../../contract/management/bot-policy.ts';
import { ownBotsOf } from '../../store/d1/own-bots.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue } from './bot-catalogue.ts';

interface Served {
  accountId: string;
  botPolicy: BotPolicy;
}

export async function servedRobots(store: ServiceStore, instance: Served, origin: string): Promise<string> {
  const { accountId, botPolicy } = instance;
  const groups = robotsGroups(botPolicy, await namedBots(store, accountId));
  return mergeRobots(origin, groups, contentNotes(botPolicy));
}

/** The catalogue with the account's own bots. One of the same id takes the place of the catalogue's. */
export async function namedBots(store: ServiceStore, accountId: string): Promise<NamedBot[]> {
  const own = await ownBotsOf(store, accountId);
  return [...new Map<string, NamedBot>([...botCatalogue.bots, ...own].map((bot) => [bot.id, bot])).values()];
}
