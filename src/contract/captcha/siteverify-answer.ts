/** The answer of `/siteverify`, apart from the question: an edge asks and never answers. */
import * as z from 'zod/mini';

export const siteverifyAnswer = z.object({
  verified: z.boolean(),
  /** Premium: closer to 1 means more likely a bot. */
  score: z.optional(z.number()),
  /** Stable key why not; paid tiers, and always to the edge. */
  reason: z.optional(z.string()),
  jti: z.optional(z.string()),
  action: z.optional(z.string()),
  hostname: z.optional(z.string()),
  level: z.optional(z.int()),
  challengeTimestamp: z.optional(z.int()),
  /** Site settings that could not be judged for want of facts about the address. */
  notEvaluated: z.optional(z.array(z.string())),
  /** Answered by a test key; nobody was verified. */
  test: z.optional(z.boolean()),
});
export type SiteverifyAnswer = z.infer<typeof siteverifyAnswer>;
