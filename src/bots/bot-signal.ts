/** The bot that a request says it is, and how that was proved: one signal of a request, `null` for most of them. */
import type { BotBehaviour, BotProof } from '../contract/vocabulary.ts';

export interface BotSignal {
  id: string;
  behaviours: readonly BotBehaviour[];
  proof: BotProof;
}
