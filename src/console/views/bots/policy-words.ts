/** The actions of a bot policy, in words. */
import type { Schema } from '../../api/service-api.ts';
import { type BotAction, botActions } from '../../../contract/vocabulary.ts';

export type BotPolicyFields = Schema<'BotPolicy'>;

const actionTexts: Record<BotAction, string> = {
  allow: 'allow: passes',
  challenge: 'challenge: is challenged',
  block: 'block: 403',
  charge: 'charge: 402 with the price',
  inherit: 'inherit: as the rest of the policy says',
};
export const actionOptions = botActions.map((action) => [action, actionTexts[action]] as const);
