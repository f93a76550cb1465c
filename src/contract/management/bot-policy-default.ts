/** The bot policy of an instance that has none of its own. Edges use it too, with a service that knows no bots. */
import type { BotPolicy } from './bot-policy.ts';

export const botPolicyDefault: BotPolicy = {
  preset: 'search-only',
  behaviours: {},
  claimed: 'inherit',
  impostor: 'challenge',
  overrides: [],
  charge: null,
  robots: { serve: true },
  signatures: { nonce: 'ignore' },
};
