/** Where the bot of a request is known from. Nothing here waits for the network, except for a nonce that is spent. */
import type { BotSignal } from '../../bots/bot-signal.ts';
import type { RequestFacts } from '../request/facts.ts';

export interface BotReader {
  /** A promise only where a signature is checked for the first time, or where `spendsNonces` asks for its nonce. */
  read(
    facts: RequestFacts,
    waitUntil: (work: Promise<unknown>) => void,
    spendsNonces: boolean,
  ): BotSignal | null | Promise<BotSignal | null>;
}

/** Before the first table of bots is loaded. */
export const NO_BOTS: BotReader = { read: () => null };
