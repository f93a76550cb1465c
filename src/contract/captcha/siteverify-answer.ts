/** What an edge reads of the response of `/siteverify` (`siteverify.ts`). Everything else in it is dropped. */
import * as z from 'zod/mini';
import { challengeKinds } from '../vocabulary.ts';

export const siteverifyAnswer = z.object({
  verified: z.boolean(),
  reason: z.optional(z.string()),
  jti: z.optional(z.string()),
  action: z.optional(z.string()),
  level: z.optional(z.number()),
  kind: z.optional(z.enum(challengeKinds)),
  powDifficulty: z.optional(z.number()),
  eased: z.optional(z.boolean()),
});
export type SiteverifyAnswer = z.infer<typeof siteverifyAnswer>;
