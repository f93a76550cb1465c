/** `POST /edge/v1/bot-proofs`: an edge asks whether an address belongs to a bot by the names that it resolves to. */
import * as z from 'zod/mini';

export const botNameAnswer = z.object({
  /** `null`: DNS gave no answer, which says nothing about the sender. */
  holds: z.nullable(z.boolean()),
  /** How long the answer counts. */
  ttlSeconds: z.number().check(z.gte(1), z.lte(86_400)),
});
export type BotNameAnswer = z.infer<typeof botNameAnswer>;
