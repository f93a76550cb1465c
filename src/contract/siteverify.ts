/**
 * `POST /siteverify` (interface document 2.1, 2.2, 4.1; design 5). Members beyond the document's four are
 * optional demands: a token that does not meet one is not verified, and not spent.
 */
import * as z from 'zod/mini';
import { TOKEN_MAX_CHARS, action } from './challenge-api.ts';

export const siteverifyRequest = z.object({
  secret: z.string().check(z.minLength(1), z.maxLength(256)),
  token: z.string().check(z.minLength(1), z.maxLength(TOKEN_MAX_CHARS)),
  ip: z.optional(z.string().check(z.maxLength(64))),
  email: z.optional(z.string().check(z.maxLength(320))),
  action: z.optional(action),
  hostname: z.optional(z.string().check(z.maxLength(255))),
  /** Least level wanted: 0 any lane, 1 proof of work, 2 image or puzzle. */
  level: z.optional(z.int().check(z.gte(0), z.lte(2))),
  /** A token is spent once per audience: once by the edge, once by the site's own backend. */
  audience: z.optional(z.enum(['site', 'edge'])),
  /** Repeats the same answer for 10 minutes to the same question. */
  idempotencyKey: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
});
export type SiteverifyRequest = z.infer<typeof siteverifyRequest>;

export const siteverifyAnswer = z.object({
  verified: z.boolean(),
  score: z.optional(z.number()),
  /** Stable key why not; paid tiers, and always to the edge. */
  reason: z.optional(z.string()),
  jti: z.optional(z.string()),
  action: z.optional(z.string()),
  hostname: z.optional(z.string()),
  level: z.optional(z.int()),
  challengeTimestamp: z.optional(z.int()),
});
export type SiteverifyAnswer = z.infer<typeof siteverifyAnswer>;
