/**
 * What the bot policy says in robots.txt: a group of tokens for each list of rules. A bot that may go everywhere needs no
 * group, because the origin's own file speaks to it.
 */
import type { BotPolicy } from '../../contract/management/bot-policy.ts';
import type { BotBehaviour } from '../../contract/vocabulary.ts';
import { compileBotRules, isPermitted } from '../bot-rules.ts';

export interface NamedBot {
  id: string;
  behaviours: readonly BotBehaviour[];
  /** Product tokens that the bot looks for in robots.txt. */
  tokens: readonly string[];
}

/** `pattern` is empty for everything. */
export interface PathRule {
  pattern: string;
  allow: boolean;
}

export interface RobotsGroup {
  tokens: readonly string[];
  /** The first one is about everything. */
  rules: readonly PathRule[];
}

/** A token that two bots share gets the rules of the stricter one: the one with more that it must not fetch. */
export function robotsGroups(policy: BotPolicy, bots: readonly NamedBot[]): RobotsGroup[] {
  const rulesOfToken = new Map<string, PathRule[]>();
  for (const { tokens, ...bot } of bots) {
    const rules = pathRules(policy, bot);
    for (const token of tokens) {
      const other = rulesOfToken.get(token);
      if (other === undefined || weight(rules) > weight(other)) rulesOfToken.set(token, rules);
    }
  }
  const groups = new Map<string, { tokens: string[]; rules: PathRule[] }>();
  for (const [token, rules] of rulesOfToken) {
    if (rules.every(({ allow }) => allow)) continue;
    const key = JSON.stringify(rules);
    const group = groups.get(key);
    if (group) group.tokens.push(token);
    else groups.set(key, { tokens: [token], rules });
  }
  return [...groups.values()];
}

function pathRules(policy: BotPolicy, bot: Omit<NamedBot, 'tokens'>): PathRule[] {
  const { elsewhere, rules } = compileBotRules(policy, bot);
  return [{ pattern: '', action: elsewhere }, ...rules].map(({ pattern, action }) => ({
    pattern,
    allow: isPermitted(action),
  }));
}

function weight(rules: readonly PathRule[]): number {
  return rules.reduce((sum, { pattern, allow }) => sum + (allow ? 0 : pattern === '' ? 1000 : 1), 0);
}
