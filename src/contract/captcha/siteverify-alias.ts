/**
 * What `/turnstile/v0/siteverify`, `/hcaptcha/siteverify` and `/recaptcha/api/siteverify` read and return: the bodies of
 * these services, so that a backend written for one of them moves here by changing an address.
 */
import * as z from 'zod/mini';
import { visitorAddress } from './siteverify.ts';

/** Unknown fields are ignored, as these services do. */
export const aliasRequest = z.object({
  secret: z._default(z.string().check(z.maxLength(256)), ''),
  response: z._default(z.string(), ''),
  /** hCaptcha: the site that the token must belong to. */
  sitekey: z.nullish(z.string().check(z.maxLength(256))),
  remoteip: z.optional(visitorAddress),
  idempotency_key: z.nullish(z.string().check(z.minLength(1), z.maxLength(128))),
});

export const aliasResponse = z.object({
  success: z.boolean(),
  /** reCAPTCHA: only if there is an error. */
  'error-codes': z.optional(z.array(z.string())),
  challenge_ts: z.optional(z.string()),
  hostname: z.optional(z.string()),
  action: z.optional(z.string()),
  cdata: z.optional(z.string()),
  score: z.optional(z.number()),
  /** A test key was used; no visitor was verified. */
  test: z.optional(z.literal(true)),
});
export type AliasResponse = z.infer<typeof aliasResponse>;
