/**
 * The bot of a visitor who is explained: the one that the caller names, or the one that the user agent names, proved by
 * the address as far as the account's bot table goes. Nothing is looked up in DNS and no signature is checked, so that
 * other proofs are the caller's to name. The bot policy is the instance's, at one path.
 */
import * as z from 'zod/mini';
import { proofOf } from '../../../../bots/bot-proof.ts';
import { actionFor, botInput, compileBotRules, readsRobots } from '../../../../bots/bot-rules.ts';
import type { BotSignal } from '../../../../bots/bot-signal.ts';
import type { BotTable } from '../../../../bots/open-bot-table.ts';
import { spelledPath } from '../../../../bots/path-match.ts';
import { botId, type BotPolicy } from '../../../../contract/management/bot-policy.ts';
import { type BotAction, botActions, botBehaviours, botProofs } from '../../../../contract/vocabulary.ts';
import type { DecideInputs } from '../../../../rules/decision-table.ts';
import { OperationError } from '../../operation-error.ts';
import type { VisitorFacts } from './visitor-signals.ts';

/** Fields of the request body. */
export const botQuestion = {
  /** In place of what user agent and address say. */
  bot: z.optional(z.strictObject({ id: botId, proof: z.enum(botProofs) })),
  /** Of the bot policy's overrides. The access rules know no paths. */
  path: z._default(z.string().check(z.maxLength(2048), z.regex(/^\/[^\s#]*$/)), '/'),
};

export const explainedBotSchema = z.object({
  id: z.string(),
  behaviours: z.array(z.enum(botBehaviours)),
  proof: z.enum(botProofs),
  /** What the bot policy says of it at the path. */
  action: z.enum(botActions),
});

export interface ExplainedBot extends BotSignal {
  action: BotAction;
}

interface Asked {
  bot?: { id: string; proof: BotSignal['proof'] } | undefined;
  path: string;
}

/** @throws OperationError 400 for a bot that the table does not have. */
export function explainedBot(
  { bot: given, path }: Asked,
  facts: VisitorFacts,
  table: BotTable | null,
  policy: BotPolicy,
): { bot: ExplainedBot | null; input: DecideInputs['bot'] } {
  const signal = given === undefined ? signalOf(facts, table) : givenSignal(given, table);
  if (signal === null) return { bot: null, input: null };
  const [file = path] = path.split('?', 1);
  const asked = actionFor(policy, signal, compileBotRules(policy, signal), [spelledPath(path)]);
  const action = readsRobots(file, asked);
  return { bot: { ...signal, behaviours: [...signal.behaviours], action }, input: botInput(signal, action) };
}

function signalOf({ userAgent, ip }: VisitorFacts, table: BotTable | null): BotSignal | null {
  const bot = table?.identify(userAgent) ?? null;
  if (table === null || bot === null) return null;
  const name = ip === null || bot.hasDns ? null : false;
  return { id: bot.id, behaviours: bot.behaviours, proof: proofOf(bot, table.rangeAnswer(bot, ip), name, false) };
}

function givenSignal({ id, proof }: NonNullable<Asked['bot']>, table: BotTable | null): BotSignal {
  const bot = table?.byId(id) ?? null;
  if (bot !== null) return { id, behaviours: bot.behaviours, proof };
  // An agent outside the catalogue is named by its host, and only its signature names it.
  if (proof === 'signature') return { id, behaviours: ['agent'], proof };
  const message = 'is not a bot of this account. Only a signature names others';
  throw new OperationError('API.INVALID_BODY', 'This bot is not known', [{ path: 'bot.id', message }]);
}
