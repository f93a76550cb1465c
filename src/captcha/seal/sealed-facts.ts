/**
 * What is known about the visitor when a challenge is issued. The seal carries it to the verification, whose filters
 * use it. Addresses are keyed hashes, so that a token in a form's log does not reveal an address.
 */
import * as z from 'zod/mini';

/** Twice as many as exist. */
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
  /** Categories of the address, or `null` when they are not known. */
  categories: z.nullable(z.array(text).check(z.maxLength(SEALED_CATEGORIES_MAX))),
  /** The Protect session that this challenge belongs to, if any. */
  session: z.nullable(text),
  webView: z.boolean(),
  /** Reason key of a refusal that takes effect at verification. The visitor does not see it. */
  refusal: z.nullable(text),
});
export type SealedFacts = z.infer<typeof sealedFacts>;
