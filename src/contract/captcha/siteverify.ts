/**
 * `POST /siteverify`. `action`, `hostname` and `level` are optional demands: a token that does not meet one is not verified and
 * not spent. An unknown field is refused by name, because a misspelt demand would otherwise be a demand that is never
 * checked. See docs/verification.md.
 */
import * as z from 'zod/mini';
import { edgeVisitor } from '../edge/edge-api.ts';
import { challengeKinds } from '../vocabulary.ts';
import { action, protectSessionId, userAccount } from './challenge-api.ts';

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

/**
 * The visitor's address as a backend knows it, often out of a header that a proxy fills in. What is not an address is
 * ignored and reported, and never an error: a form must not fail because a proxy says "unknown".
 */
// oxlint-disable-next-line promise/valid-params -- a schema's `catch`, not a promise's
export const statedAddress = z.catch(z.nullable(z.string().check(z.maxLength(64))), null);

export const siteverifyRequest = z.strictObject({
  secret: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Sent by a visitor's browser, so of any content that fits a body. A bad token is not verified; it is not an error. */
  token: z.string(),
  ip: z.optional(statedAddress),
  /** A whole address or its domain alone. `null` and an empty text count as absent. */
  email: z.optional(z.nullable(z.string().check(z.maxLength(320)))),
  /** Who the visitor is to the site, whatever their browser said. Empty counts as absent. */
  userAccount: z.optional(z.nullable(z.union([z.literal(''), userAccount]))),
  action: z.optional(action),
  hostname: z.optional(z.string().check(z.maxLength(255))),
  /** The lowest level that is accepted: 0 any lane, 1 a proof of work, 2 four times the work, with an image or a puzzle. At least the site's `minimumLevel`. */
  level: z.optional(z.int().check(z.gte(0), z.lte(2))),
  /** A token is spent once per audience: once by the edge, once by the site's own backend. */
  audience: z.optional(z.enum(['site', 'edge'])),
  /**
   * The same request with the same key gets the same response for 10 minutes. A key that can be computed from the token
   * is refused: a bot that sends the token again would be verified again.
   */
  idempotencyKey: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  /**
   * Only with audience `edge` and a client JWT: the visitor who shows the token, and their session. The token must meet
   * what is demanded of them now.
   */
  visitor: z.optional(edgeVisitor),
  sessionId: z.optional(protectSessionId),
});
export type SiteverifyRequest = z.infer<typeof siteverifyRequest>;

/** Why a token was not verified, or what it was flagged for, by stable key. */
export const verifyReasons = {
  'CAPTCHA.INVALID_TOKEN': 'The token is not one of this service',
  'API.TIMESTAMP_TOO_OLD': 'The token has expired',
  'API.SITE_KEY_MISMATCH': 'The token belongs to another site',
  'API.UNAUTHORIZED_ORIGIN_URL': 'The token comes from another host name',
  'API.ACTION_MISMATCH': 'The token was issued for another action',
  'API.LEVEL_TOO_LOW': 'The token was bought with an easier challenge than asked for',
  'API.VISITOR_MISMATCH': 'The challenge was asked for by another visitor, on another host, or not through this edge',
  'API.USER_ALREADY_VERIFIED': 'The token was used before',
  'API.USER_NOT_VERIFIED': 'The visitor was not verified',
  'API.ACCESS_POLICY_BLOCK': 'An access rule refuses this visitor',
  'API.TOR_BLOCKED': 'Tor addresses are refused',
  'API.VPN_BLOCKED': 'VPN addresses are refused',
  'API.PROXY_BLOCKED': 'Proxy addresses are refused',
  'API.DATACENTER_BLOCKED': 'Datacenter addresses are refused',
  'API.ABUSER_BLOCKED': 'Addresses known for abuse are refused',
  'API.CRAWLER_BLOCKED': 'Crawler addresses are refused',
  'API.SATELLITE_BLOCKED': 'Satellite addresses are refused',
  'API.MOBILE_BLOCKED': 'Mobile addresses are refused',
  'API.FAILED_IP_VALIDATION': 'The address differs too much from the one that solved the challenge',
  'API.FLAGGED_IP_VALIDATION': 'The address differs from the one that solved the challenge, and the site flags it',
  'API.SPAM_EMAIL_DOMAIN': 'The email domain is refused',
  'API.SPAM_EMAIL_RULE': 'The email address is refused by a rule',
  'API.SPAM_EMAIL_COUNT_EXCEEDED': 'The email address was used too often',
  'API.DISALLOWED_WEBVIEW': 'Web views are refused',
  'API.BOT_SCORE_ABOVE_THRESHOLD': 'The risk score is above the limit of the site',
} as const;
export type VerifyReason = keyof typeof verifyReasons;

/**
 * What `/turnstile/v0/siteverify`, `/hcaptcha/siteverify` and `/recaptcha/api/siteverify` read and return: the bodies of
 * these services, so that a backend written for one of them moves here by changing an address. Unknown fields are ignored,
 * as these services do.
 */
export const aliasRequest = z.object({
  secret: z._default(z.string().check(z.maxLength(256)), ''),
  response: z._default(z.string(), ''),
  /** hCaptcha: the site that the token must belong to. */
  sitekey: z.nullish(z.string().check(z.maxLength(256))),
  remoteip: z.optional(statedAddress),
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
