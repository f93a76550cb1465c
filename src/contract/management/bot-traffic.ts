/** `POST /protect/bots/traffic`: which bots came, what robots.txt told them, and what they did and got. */
import * as z from 'zod/mini';
import { botBehaviours } from '../vocabulary.ts';
import { instant } from './time.ts';
import { siteKeyField, wholeNumber } from './verdict-query.ts';

export const BOTS_DEFAULT = 100;
export const BOTS_MAX = 500;
/** Paths that are named for one bot. */
export const BOT_EXAMPLES_MAX = 5;

export const botTrafficRequest = z.strictObject({
  siteKey: siteKeyField,
  /** Default: 24 hours ago. Whole minutes. */
  since: z.optional(instant),
  /** Default: now. */
  until: z.optional(instant),
  /** Bots, and impostors, with most requests. */
  limit: z._default(wholeNumber(1, BOTS_MAX), BOTS_DEFAULT),
});

/** What requests got. `charge`: 402; not in `block`. */
const got = { total: z.int(), allow: z.int(), challenge: z.int(), block: z.int(), charge: z.int() };
/** Of all requests of the instance, 0 to 1. */
const share = z.number();

/** Everything, a part of the site, or nothing. */
export const robotsExtents = ['everything', 'parts', 'nothing'] as const;

/** Both by the file as crawlers get it now. */
const robotsTraffic = z.object({
  /** What the file allows the bot. */
  extent: z.enum(robotsExtents),
  /** Requests to paths that the file allows. */
  allowed: z.int(),
  /** Requests to paths that the file disallows. */
  disallowed: z.int(),
  /** Those of them whose bot was proved. */
  disallowedProved: z.int(),
  /** Disallowed paths with most requests. */
  examples: z.array(z.object({ host: z.string(), path: z.string(), rule: z.string(), total: z.int() })),
});
export type RobotsTraffic = z.infer<typeof robotsTraffic>;

export const botTraffic = z.object({
  id: z.string(),
  /** `null`: the catalogue does not have the bot, or not this. */
  name: z.nullable(z.string()),
  operator: z.nullable(z.string()),
  behaviours: z.array(z.enum(botBehaviours)),
  ...got,
  share,
  proofs: z.object({ range: z.int(), dns: z.int(), signature: z.int(), claimed: z.int() }),
  /** `null`: no robots.txt is known of the hosts that the bot asked. */
  robots: z.nullable(robotsTraffic),
});
export type BotTraffic = z.infer<typeof botTraffic>;

/** Requests that use the name of a bot and are provably not it. */
export const impostorTraffic = z.object({ id: z.string(), name: z.nullable(z.string()), ...got, share });
export type ImpostorTraffic = z.infer<typeof impostorTraffic>;

export const botTrafficResponse = z.object({
  /** The window that was counted. Epoch milliseconds, `until` exclusive. */
  since: z.int(),
  until: z.int(),
  /** All requests of the instance. */
  total: z.int(),
  /** Most requests first. */
  bots: z.array(botTraffic),
  impostors: z.array(impostorTraffic),
  /** Bots and impostors beyond `limit`. */
  other: z.object({ bots: z.int(), total: z.int() }),
  /** `false`: there were more bots than the log counts one by one. Those are in no number but `total`. */
  isExact: z.boolean(),
  /** `false`: more hosts, paths or rules than are compared. What was left out is in no number of `robots`. */
  robotsIsExact: z.boolean(),
});
export type BotTrafficResponse = z.infer<typeof botTrafficResponse>;
