/**
 * The form of a bot policy, as the edge's config carries it. The service takes only what `bot-policy.ts` accepts, whose
 * texts and references are bounded; the edge checks no more than that every word is one that it can act on.
 */
import * as z from 'zod/mini';
import { botActions, botBehaviours, botPresets } from '../vocabulary.ts';
import type { BotBehaviour } from '../vocabulary.ts';

const text = z.string();
const action = z.enum(botActions);
const behaviour = z.enum(botBehaviours);

export const botActionsByBehaviour = z.strictObject(
  Object.fromEntries(botBehaviours.map((name) => [name, z.optional(action)])) as Record<
    BotBehaviour,
    z.ZodMiniOptional<typeof action>
  >,
);

const form = z.object({
  preset: z.enum(botPresets),
  behaviours: botActionsByBehaviour,
  claimed: action,
  impostor: action,
  overrides: z.array(
    z.object({ bot: z.optional(text), behaviour: z.optional(behaviour), path: z.optional(text), action }),
  ),
  charge: z.nullable(z.object({ price: text, licenseUrl: text })),
  robots: z.object({ serve: z.boolean() }),
  signatures: z.object({ nonce: z.enum(['ignore', 'once']) }),
});
export type BotPolicy = z.infer<typeof form>;

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

export const botPolicyForm = z._default(form, botPolicyDefault);
