/** The robots.txt of an instance: the origin's, merged with the policy as it is now, for every bot that the account knows. */
import { blockedPaths } from '../../bots/robots/blocked-paths.ts';
import { contentNotes } from '../../bots/robots/content-notes.ts';
import { mergeRobots } from '../../bots/robots/merge-robots.ts';
import { type NamedBot, robotsGroups } from '../../bots/robots/robots-groups.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { ownBotsOf } from '../../store/d1/own-bots.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue } from './bot-catalogue.ts';

type Served = Pick<StoredInstance, 'accountId' | 'botPolicy' | 'pathRules'>;

export async function servedRobots(store: ServiceStore, instance: Served, origin: string): Promise<string> {
  return mergedFor(instance, await namedBots(store, instance.accountId), origin);
}

export function mergedFor({ botPolicy, pathRules }: Served, bots: readonly NamedBot[], origin: string): string {
  const everybody = blockedPaths(pathRules);
  const groups = robotsGroups(botPolicy, bots, everybody);
  return mergeRobots(origin, { groups, everybody, notes: contentNotes(botPolicy) });
}

/** The catalogue with the account's own bots. One of the same id takes the place of the catalogue's. */
export async function namedBots(store: ServiceStore, accountId: string): Promise<NamedBot[]> {
  const own = await ownBotsOf(store, accountId);
  return [...new Map<string, NamedBot>([...botCatalogue.bots, ...own].map((bot) => [bot.id, bot])).values()];
}
