/**
 * Calls between edge and service. Every call carries the client JWT as bearer. Both sides parse with these schemas;
 * a response (`edge-responses.ts`) that does not fit counts as "service unreachable".
 */
import * as z from 'zod/mini';
import { sessionCall } from './page-reports.ts';

export const CLIENT_JWT_AUDIENCE = 'protect-edge';
/** Media type of ruleset base and delta files. */
export const RULESET_MEDIA_TYPE = 'application/vnd.gatehouse.ruleset';

const id = z.string().check(z.minLength(1), z.maxLength(256));

const units = z.int().check(z.nonnegative());

const headerText = (maxChars: number) => z.nullable(z.string().check(z.maxLength(maxChars)));

/**
 * What the headers of a session call say about the browser. Read on session calls only, never while a request is
 * decided. `null` is a missing header.
 */
export const clientHeaders = z.strictObject({
  /** Https or localhost: only there do browsers send the headers below `acceptLanguage`. */
  secure: z.boolean(),
  /** Whether the header was sent. The languages are not kept. */
  acceptLanguage: z.boolean(),
  fetchSite: headerText(16),
  fetchMode: headerText(16),
  fetchDest: headerText(32),
  uaBrands: headerText(256),
  uaMobile: headerText(8),
  uaPlatform: headerText(32),
});
export type ClientHeaders = z.infer<typeof clientHeaders>;

/** The edge's signals of a visitor, sent with calls that the edge makes for that visitor. */
export const edgeVisitor = z.strictObject({
  ip: z.nullable(z.string().check(z.maxLength(45))),
  userAgent: z.string().check(z.maxLength(16_384)),
  asn: z.nullable(z.int()),
  country: z.nullable(z.string().check(z.maxLength(2))),
  ja4: z.nullable(z.string().check(z.maxLength(64))),
  ipCategories: z.array(z.string().check(z.maxLength(16))).check(z.maxLength(16)),
  requestId: id,
  host: z.string().check(z.maxLength(255)),
  /** Risk of the visitor's session, 0 to 1; absent without a session. */
  riskScore: z.optional(z.number().check(z.gte(0), z.lte(1))),
  /** On session calls. */
  headers: z.optional(clientHeaders),
});
export type EdgeVisitor = z.infer<typeof edgeVisitor>;

/** `POST /edge/v1/sessions` → `EdgeSession`, or `SessionChallenge` where a session must be earned first. */
export const edgeSessionRequest = z.strictObject({
  visitor: edgeVisitor,
  /** The JWT being refreshed; absent opens a new session. */
  jwt: z.optional(z.string().check(z.maxLength(4096))),
  /** What the page posted to `/__protect/session`, without its nonce. */
  page: z.optional(sessionCall),
  /** Request id of the page load that the page's nonce names. `null`: there is none. Absent: the edge knows no nonces. */
  load: z.optional(z.nullable(z.uuid())),
  /** What the session asked for, as far as the edge knows: `PaceUse`, up to window number `window`. */
  use: z.optional(z.strictObject({ window: units, before: units, now: units })),
});
export type EdgeSessionRequest = z.infer<typeof edgeSessionRequest>;
