/**
 * What is known of the visitor when a challenge is issued, carried inside the seal to the moment of
 * verification (design 5: filters use the signals seen at issue). Addresses are kept as keyed
 * hashes only, so that a token in a form's log is nobody's address.
 */
import * as z from 'zod/mini';

/** Twice as many as there are. */
export const SEALED_CATEGORIES_MAX = 16;
const text = z.string().check(z.maxLength(256));

export const sealedFacts = z.strictObject({
  /** Closer to 1 means more likely a bot. */
  score: z.number().check(z.gte(0), z.lte(1)),
  /** Names of the detectors that fired. */
  detectors: z.array(text).check(z.maxLength(32)),
  /** Keyed hashes of the address and of its prefix (/24, /64), or `null` when unknown. */
  ip: z.nullable(text),
  prefix: z.nullable(text),
  country: z.nullable(text),
  asn: z.nullable(z.int()),
  /** Name of the network's operator. */
  network: z.nullable(text),
  city: z.nullable(text),
  /** Degrees. */
  latitude: z.nullable(z.number()),
  longitude: z.nullable(z.number()),
  /** Flags of the address, or `null` when nobody could tell. */
  categories: z.nullable(z.array(text).check(z.maxLength(SEALED_CATEGORIES_MAX))),
  /** The Protect session this challenge belongs to, when there is one. */
  session: z.nullable(text),
  webView: z.boolean(),
  /** Reason key of a refusal that waits until verification; the visitor never learns of it. */
  refusal: z.nullable(text),
});
export type SealedFacts = z.infer<typeof sealedFacts>;
