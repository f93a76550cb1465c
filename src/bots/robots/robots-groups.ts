/**
 * What the bot policy says in robots.txt: a group of tokens for each list of rules. A bot that may go everywhere needs no
 * group, because the origin's own file speaks to it. It gets one where its token has that of a refused bot in it: many
 * crawlers look for a part of their name (RFC 9309 section 2.2.1), and would take the refusal for theirs.
 */
import type { BotPolicy } from '../../contract/management/bot-policy.ts';
import type { BotBehaviour } from '../../contract/vocabulary.ts';
import { bothAllow, EVERYTHING, isOpen, newEffort, type PathRule } from './both-allow.ts';
import { compileBotRules, isPermitted } from '../bot-rules.ts';

export interface NamedBot {
  id: string;
  behaviours: readonly BotBehaviour[];
  /** Product tokens that the bot looks for in robots.txt. */
  tokens: readonly string[];
}

export interface RobotsGroup {
  tokens: readonly string[];
  rules: readonly PathRule[];
}

/**
 * A token that two bots share tells both what neither must fetch. `everybody`: rules that hold for every crawler. A group
 * of a bot that may go wherever they let it has those very rules.
 */
export function robotsGroups(
  policy: BotPolicy,
  bots: readonly NamedBot[],
  everybody: readonly PathRule[] = [EVERYTHING],
): RobotsGroup[] {
  const effort = newEffort();
  const rulesOf = rulesByBot(policy);
  const rulesOfToken = new Map<string, PathRule[]>();
  for (const { tokens, ...bot } of bots) {
    const rules = rulesOf(bot);
    for (const token of tokens) {
      const other = rulesOfToken.get(token);
      rulesOfToken.set(token, other === undefined ? rules : bothAllow(rules, other, effort));
    }
  }
  const groups = new Map<string, { tokens: string[]; rules: PathRule[] }>();
  const refused = [...rulesOfToken].flatMap(([token, rules]) => (isOpen(rules) ? [] : [token.toLowerCase()]));
  for (const [token, rules] of rulesOfToken) {
    const name = token.toLowerCase();
    if (isOpen(rules) && !refused.some((other) => name.includes(other))) continue;
    const key = JSON.stringify(rules);
    const group = groups.get(key);
    if (group) group.tokens.push(token);
    else groups.set(key, { tokens: [token], rules });
  }
  // Crawlers that take the first name that fits find the longer one.
  return [...groups.values()]
    .sort((a, b) => Number(isOpen(b.rules)) - Number(isOpen(a.rules)))
    .map(({ tokens, rules }) => ({ tokens, rules: isOpen(rules) ? everybody : bothAllow(rules, everybody, effort) }));
}

/** Most bots have the rules of others with the same behaviours. */
function rulesByBot(policy: BotPolicy): (bot: Omit<NamedBot, 'tokens'>) => PathRule[] {
  const named = new Set(policy.overrides.map(({ bot }) => bot));
  const remembered = new Map<string, PathRule[]>();
  return (bot) => {
    if (named.has(bot.id)) return pathRules(policy, bot);
    const key = bot.behaviours.join();
    const rules = remembered.get(key) ?? pathRules(policy, bot);
    remembered.set(key, rules);
    return rules;
  };
}

function pathRules(policy: BotPolicy, bot: Omit<NamedBot, 'tokens'>): PathRule[] {
  const { elsewhere, rules } = compileBotRules(policy, bot);
  const all = [...rules, { pattern: '/', action: elsewhere }];
  return all.map(({ pattern, action }) => ({ pattern, allow: isPermitted(action) }));
}
