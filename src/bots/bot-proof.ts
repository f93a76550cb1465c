/** What the proofs of a bot make of a name, where no signature holds. */
import type { BotBehaviour, BotProof } from '../contract/vocabulary.ts';
import type { TableBot } from './bot-table.ts';
import type { RangeAnswer } from './open-bot-table.ts';

/** `name`: what the host names of the address say, `null` while that is not known; `false` for a bot without them. */
export function proofOf(
  bot: TableBot,
  range: RangeAnswer,
  name: boolean | null,
  isSignatureOpen: boolean,
): Exclude<BotProof, 'signature'> {
  if (range === 'holds') return 'range';
  if (name === true) return 'dns';
  // Nothing that is not known yet, and no bot without any proof, makes an impostor. Anybody can send a signature that
  // cannot be decided, so it counts only for a bot that signs.
  const signs = bot.agents.length > 0;
  const hasProof = range === 'fails' || bot.hasDns || signs;
  const isDecided = range !== 'unknown' && name === false && !(signs && isSignatureOpen);
  return bot.isComplete && hasProof && isDecided ? 'impostor' : 'claimed';
}

/** The bot that a request says it is, and how that was proved: one signal of a request, `null` for most of them. */
export interface BotSignal {
  id: string;
  behaviours: readonly BotBehaviour[];
  proof: BotProof;
  /** The operator publishes all networks of the bot, so that its own requests rarely stay `claimed`. */
  isPublished?: boolean;
}

/** The bot of the table, proved like this. */
export function botSignal({ id, behaviours, isComplete, ranges }: TableBot, proof: BotProof): BotSignal {
  return { id, behaviours, proof, isPublished: isComplete && ranges.length > 0 };
}

/**
 * A visitor who names no bot, and whose session looks operated by a program (detector `suspected-agent`). The log, the
 * filters and the bot policy have such visitors as one bot.
 */
export const SUSPECTED_AGENT: BotSignal = {
  id: 'suspected-agent',
  behaviours: ['suspected-agent'],
  proof: 'suspected',
};

/** For counts by bot: visitors who are only suspected do not share one. */
export function namedBotId(bot: BotSignal | null): string | null {
  return bot === null || bot.proof === 'suspected' ? null : bot.id;
}
