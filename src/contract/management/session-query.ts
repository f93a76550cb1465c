/** The list of an instance's sessions. See docs/verdict-log.md. */
import * as z from 'zod/mini';
import { instant } from './time.ts';
import { sessionFacts, siteKeyField, wholeNumber } from './verdict-query.ts';

const PAGE_MAX_SESSIONS = 200;
const PAGE_DEFAULT_SESSIONS = 50;

/** Also as text, as forms carry it. */
const share = z.pipe(
  z.pipe(z.union([z.number(), z.string().check(z.regex(/^[01](\.\d{1,6})?$/))]), z.transform(Number)),
  z.number().check(z.gte(0), z.lte(1)),
);

export const sessionListRequest = z.strictObject({
  siteKey: siteKeyField,
  /** Sessions with this risk score or a higher one. */
  minRisk: z.optional(share),
  /** Sessions that were opened in the network (/24 or /56) of this address and used it. */
  ip: z.optional(z.string().check(z.minLength(1), z.maxLength(45))),
  /** Sessions that were renewed, or whose pages reported, since then. */
  since: z.optional(instant),
  limit: z._default(wholeNumber(1, PAGE_MAX_SESSIONS), PAGE_DEFAULT_SESSIONS),
  /** `nextCursor` of the page before, with the same filters. */
  cursor: z.optional(z.string().check(z.minLength(1), z.maxLength(512))),
});

export const sessionListResponse = z.object({
  /** Newest first. */
  sessions: z.array(
    z.object({
      jti: z.string(),
      ...sessionFacts.shape,
      user_agent: z.string(),
      /** Where it was opened, /24 or /56. */
      network: z.string(),
      /** The last eight addresses, newest last. */
      addresses: z.array(z.string()),
      ip_category: z.array(z.string()),
    }),
  ),
  /** `null` on the last page. A page can be short and still not be the last. */
  nextCursor: z.nullable(z.string()),
});
