/** What an edge asks the service about a bot: the keys that sign its requests, and whether its address has its name. */
import * as z from 'zod/mini';

/** Of a directory, and so of an answer. */
export const BOT_KEYS_MAX = 100;

const text = (maxChars: number) => z.string().check(z.maxLength(maxChars));

/** A public key as a JWK: Ed25519 has `crv` and `x`, RSA has `n` and `e`. The platform checks them at the import. */
export const botKey = z.object({
  /** SHA-256 thumbprint of the key (RFC 7638). */
  keyid: text(43),
  kty: z.enum(['OKP', 'RSA']),
  crv: z.optional(text(16)),
  x: z.optional(text(64)),
  n: z.optional(text(1024)),
  e: z.optional(text(16)),
});
export type BotKey = z.infer<typeof botKey>;

/**
 * `POST /edge/v1/bot-keys`: the keys of an agent that signs its requests. The service fetches the agent's directory, and
 * computes the thumbprint of each key itself.
 */
export const botKeys = z.object({
  /** `false`: the directory could not be fetched. `keys` are then those of the last time, or none. */
  isFetched: z.boolean(),
  keys: z.array(botKey).check(z.maxLength(BOT_KEYS_MAX)),
  /** How long the answer counts. */
  maxAgeSeconds: z.number().check(z.gte(0), z.lte(86_400)),
});
export type BotKeys = z.infer<typeof botKeys>;

/** `POST /edge/v1/bot-proofs`: whether an address belongs to a bot by the names that it resolves to. */
export const botNameAnswer = z.object({
  /** `null`: DNS gave no answer, which says nothing about the sender. */
  holds: z.nullable(z.boolean()),
  /** How long the answer counts. */
  ttlSeconds: z.number().check(z.gte(1), z.lte(86_400)),
});
export type BotNameAnswer = z.infer<typeof botNameAnswer>;
