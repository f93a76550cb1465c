/** What the bot policy of an instance says of a bot at a path. */
import type { BotSignal } from '../bots/bot-proof.ts';
import { actionFor, compileBotRules, readsRobots, type BotRules } from '../bots/bot-rules.ts';
import { spelledPath } from '../bots/path-match.ts';
import { BoundedMap } from '../bytes/bounded-map.ts';
import type { BotPolicy } from '../contract/management/bot-policy.ts';
import type { BotAction } from '../contract/vocabulary.ts';
import type { CanonicalTarget } from './request-target.ts';

/**
 * The instance's bot policy, ready for requests. The rules of a bot are compiled when it comes for the first time and
 * remembered. Most requests are of no bot and never get here.
 */
export type BotActionFor = (bot: BotSignal, target: CanonicalTarget) => BotAction;

/** Agents that only a signature names are not in the catalogue, so there is no end of them. */
const REMEMBERED_BOTS_MAX = 2000;

export function compileBotPolicy(policy: BotPolicy): BotActionFor {
  const remembered = new BoundedMap<BotRules>(REMEMBERED_BOTS_MAX);
  function rulesOf(bot: BotSignal): BotRules {
    const key = `${bot.id} ${bot.behaviours.join()}`;
    let rules = remembered.get(key);
    if (!rules) {
      rules = compileBotRules(policy, bot);
      remembered.set(key, rules);
    }
    return rules;
  }
  return function botAction(bot, { path, query, readings }) {
    const action = actionFor(
      policy,
      bot,
      rulesOf(bot),
      readings && [path, ...readings].map((one) => spelledPath(query === '?' ? one : one + query)),
    );
    return readsRobots(path, action);
  };
}
