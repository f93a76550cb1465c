/**
 * `POST /edge/v1/bot-keys`: an edge asks for the keys of an agent that signs its requests. The service fetches the
 * agent's directory, and computes the thumbprint of each key itself.
 */
import * as z from 'zod/mini';

/** Of a directory, and so of an answer. */
export const BOT_KEYS_MAX = 100;

const base64url = (maxChars: number) => z.string().check(z.regex(/^[\w-]+$/), z.maxLength(maxChars));
/** SHA-256 thumbprint of the key (RFC 7638). */
const keyid = z.string().check(z.regex(/^[\w-]{43}$/));

export const botKey = z.union([
  z.object({ keyid, kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: base64url(43) }),
  z.object({ keyid, kty: z.literal('RSA'), n: base64url(1024), e: base64url(16) }),
]);
export type BotKey = z.infer<typeof botKey>;

export const botKeys = z.object({
  /** `false`: the directory could not be fetched. `keys` are then those of the last time, or none. */
  isFetched: z.boolean(),
  keys: z.array(botKey).check(z.maxLength(BOT_KEYS_MAX)),
  /** How long the answer counts. */
  maxAgeSeconds: z.int().check(z.gte(0), z.lte(86_400)),
});
export type BotKeys = z.infer<typeof botKeys>;
