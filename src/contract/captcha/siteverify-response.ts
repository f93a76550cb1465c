/** The response of `/siteverify`, kept apart from the request: an edge sends requests and reads responses only. */
import * as z from 'zod/mini';
import { challengeKinds } from '../vocabulary.ts';

export const siteverifyResponse = z.object({
  verified: z.boolean(),
  /** Premium: closer to 1 means more likely a bot. */
  score: z.optional(z.number()),
  /** Stable key of the reason why not, or of what a verified token was flagged for; on paid tiers, and always to the edge. */
  reason: z.optional(z.string()),
  jti: z.optional(z.string()),
  action: z.optional(z.string()),
  hostname: z.optional(z.string()),
  level: z.optional(z.int()),
  /** To the edge: what was solved. A `powDifficulty` of 0 was only waited for. */
  kind: z.optional(z.enum(challengeKinds)),
  powDifficulty: z.optional(z.number()),
  /** To the edge: a rule asked this visitor for less than the site does. */
  eased: z.optional(z.boolean()),
  challengeTimestamp: z.optional(z.int()),
  /** Site settings that could not be judged, because the facts about the address are not known. */
  notEvaluated: z.optional(z.array(z.string())),
  /** A test key was used; no visitor was verified. */
  test: z.optional(z.boolean()),
});
export type SiteverifyResponse = z.infer<typeof siteverifyResponse>;
