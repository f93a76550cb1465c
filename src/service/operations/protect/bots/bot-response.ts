/** A bot as the management API lists it. */
import * as z from 'zod/mini';
import { botBehaviours } from '../../../../contract/vocabulary.ts';

export const knownBot = z.object({
  id: z.string(),
  name: z.string(),
  operator: z.nullable(z.string()),
  behaviours: z.array(z.enum(botBehaviours)),
  patterns: z.array(z.string()),
  tokens: z.array(z.string()),
  ranges: z.array(z.string()),
  networks: z.array(z.string()),
  dns: z.array(z.string()),
  agents: z.array(z.string()),
  isComplete: z.boolean(),
  isOwn: z.boolean(),
});

/** A bot that the account has added, in the form in which it is added. */
export const ownBotResponse = z.object({
  id: z.string(),
  behaviours: z.array(z.enum(botBehaviours)),
  patterns: z.array(z.string()),
  tokens: z.array(z.string()),
  networks: z.array(z.string()),
  isComplete: z.boolean(),
});
