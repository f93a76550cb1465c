/**
 * What bots asked for beside what robots.txt says to them. The file is the one that crawlers get now: the origin's as
 * edges last read it, merged with the present policy. The work is bounded, because visitors choose paths and the origin
 * its rules: paths with most requests come first, and the result says when something was left out.
 */
import { isBan, type PathRule } from '../../../../bots/robots/both-allow.ts';
import { answerOf, readRobotsRules } from '../../../../bots/robots/robots-answer.ts';
import { BOT_EXAMPLES_MAX, type RobotsTraffic } from '../../../../contract/management/bot-traffic.ts';
import { isProved } from '../../../../rules/decision-table.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { robotsFile, type RobotsHost, robotsHosts } from '../../../../store/d1/robots-files.ts';
import type { CountedBotPath } from '../../../../store/event-log/bot-counts.ts';
import { servedRobots } from '../../../bots/served-robots.ts';
import type { ServiceStore } from '../../../environment.ts';

/** Files of one report. Each is merged anew, in some milliseconds. */
const HOSTS_MAX = 10;
/** Patterns that are tried, long ones counted several times: about a second. */
const EFFORT_MAX = 5_000_000;
const EFFORT_CHARS = 32;

interface AskedPath extends CountedBotPath {
  total: number;
}

type RulesFor = ReturnType<typeof readRobotsRules>;

interface Compared {
  /** By the bot's id; none for a bot that asked no host whose file is known. */
  byBot: ReadonlyMap<string, RobotsTraffic>;
  isExact: boolean;
}

/** `paths`: most requests first, of the bots that `tokensOf` knows. */
export async function compareWithRobots(
  store: ServiceStore,
  instance: StoredInstance,
  paths: readonly AskedPath[],
  tokensOf: (id: string) => readonly string[],
): Promise<Compared> {
  const { files, isCut } = await filesOf(store, instance, paths);
  const comparison = new Comparison(files, tokensOf);
  for (const path of paths) comparison.add(path);
  return { byBot: comparison.byBot(), isExact: comparison.isExact && !isCut };
}

/** The files of the hosts with most requests. */
async function filesOf(
  store: ServiceStore,
  instance: StoredInstance,
  paths: readonly AskedPath[],
): Promise<{ files: ReadonlyMap<string, RulesFor>; isCut: boolean }> {
  const isServed = instance.botPolicy.robots.serve && !instance.monitor;
  const totals = new Map<string, number>();
  for (const { host, total } of paths) totals.set(host, (totals.get(host) ?? 0) + total);
  const known = (await robotsHosts(store, instance.id))
    .filter(({ host, readAt }) => totals.has(host) && (isServed || readAt !== null))
    .sort((a, b) => (totals.get(b.host) ?? 0) - (totals.get(a.host) ?? 0));
  const read = async ({ host }: RobotsHost): Promise<[string, RulesFor]> => {
    const origin = (await robotsFile(store, instance.id, host))?.text ?? '';
    return [host, readRobotsRules(isServed ? await servedRobots(store, instance, origin) : origin)];
  };
  const files = new Map(await Promise.all(known.slice(0, HOSTS_MAX).map(read)));
  return { files, isCut: known.length > HOSTS_MAX };
}

interface HostRules {
  rules: readonly PathRule[];
  effort: number;
}

class Comparison {
  readonly #files: ReadonlyMap<string, RulesFor>;
  readonly #tokensOf: (id: string) => readonly string[];
  readonly #rules = new Map<string, HostRules>();
  readonly #byBot = new Map<string, RobotsTraffic>();
  /** By bot, and by host and path. */
  readonly #disallowed = new Map<string, Map<string, RobotsTraffic['examples'][number]>>();
  #effort = 0;
  isExact = true;

  constructor(files: ReadonlyMap<string, RulesFor>, tokensOf: (id: string) => readonly string[]) {
    this.#files = files;
    this.#tokensOf = tokensOf;
  }

  add({ id, proof, host, path, total }: AskedPath): void {
    const said = this.#rulesOf(id, host);
    if (said === null) return;
    this.#effort += said.effort;
    if (this.#effort > EFFORT_MAX) {
      this.isExact = false;
      return;
    }
    const traffic = this.#byBot.get(id) as RobotsTraffic;
    const { isAllowed, rule } = answerOf(said.rules, path);
    if (isAllowed) {
      traffic.allowed += total;
      return;
    }
    traffic.disallowed += total;
    if (isProved(proof)) traffic.disallowedProved += total;
    const examples = this.#disallowed.get(id) ?? new Map<string, RobotsTraffic['examples'][number]>();
    this.#disallowed.set(id, examples);
    const known = examples.get(`${host} ${path}`);
    if (known) known.total += total;
    else examples.set(`${host} ${path}`, { host, path, rule: rule ?? '', total });
  }

  byBot(): ReadonlyMap<string, RobotsTraffic> {
    for (const [id, traffic] of this.#byBot) {
      const examples = [...(this.#disallowed.get(id)?.values() ?? [])].sort((a, b) => b.total - a.total);
      traffic.examples = examples.slice(0, BOT_EXAMPLES_MAX);
    }
    return this.#byBot;
  }

  #rulesOf(id: string, host: string): HostRules | null {
    const known = this.#rules.get(`${id} ${host}`);
    if (known) return known;
    const file = this.#files.get(host);
    if (file === undefined) return null;
    const rules = file(this.#tokensOf(id));
    const effort = rules.reduce((sum, { pattern }) => sum + 1 + pattern.length / EFFORT_CHARS, 1);
    const made = { rules, effort };
    this.#rules.set(`${id} ${host}`, made);
    this.#widen(id, extentOf(rules));
    return made;
  }

  /** Hosts that say different things allow a part. */
  #widen(id: string, extent: RobotsTraffic['extent']): void {
    const traffic = this.#byBot.get(id);
    if (traffic) traffic.extent = traffic.extent === extent ? extent : 'parts';
    else this.#byBot.set(id, { extent, allowed: 0, disallowed: 0, disallowedProved: 0, examples: [] });
  }
}

function extentOf(rules: readonly PathRule[]): RobotsTraffic['extent'] {
  if (rules.every(({ allow }) => allow)) return 'everything';
  return isBan(rules) ? 'nothing' : 'parts';
}
