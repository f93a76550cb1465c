/** Which bots came (`POST /protect/bots/traffic`), and what robots.txt tells them (`POST /protect/robots`). */
import * as z from 'zod/mini';
import { botActions, botBehaviours, namedBehaviours, robotsStates } from '../vocabulary.ts';
import { instant } from './time.ts';
import { includeInternal, siteKeyField, wholeNumber } from './verdict-query.ts';
import { botPolicy } from './bot-policy.ts';

export const BOTS_DEFAULT = 100;
export const TRAFFIC_BOTS_MAX = 500;
/** Paths that are named for one bot. */
export const BOT_EXAMPLES_MAX = 5;

export const botTrafficRequest = z.strictObject({
  siteKey: siteKeyField,
  /** Default: 24 hours ago. Whole minutes. */
  since: z.optional(instant),
  /** Default: now. */
  until: z.optional(instant),
  includeInternal,
  /** Bots, and impostors, with most requests. */
  limit: z._default(wholeNumber(1, TRAFFIC_BOTS_MAX), BOTS_DEFAULT),
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
  proofs: z.object({ range: z.int(), dns: z.int(), signature: z.int(), claimed: z.int(), suspected: z.int() }),
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

/** `POST /protect/robots`: what robots.txt says, and what it would say without the gate. */
export const robotsRequest = z.strictObject({
  siteKey: siteKeyField,
  host: z.optional(z.string().check(z.maxLength(261))),
  /** A policy to try, in place of the one in force. */
  botPolicy: z.optional(botPolicy),
});

const seen = {
  host: z.string(),
  state: z.enum(robotsStates),
  readAt: z.nullable(z.int()),
  seenAt: z.int(),
};

export const robotsTold = ['all', 'some', 'none'] as const;

export const robotsResponse = z.object({
  /** Whether the gate serves it. Not in monitor mode, and not with `robots: {serve: false}`. */
  isServed: z.boolean(),
  host: z.nullable(z.string()),
  /** Of `host`. `null` while no edge has asked for it. */
  origin: z.nullable(z.object({ ...seen, text: z.string() })),
  served: z.string(),
  hosts: z.array(z.object(seen)),
  /** What each behaviour gets by the preset alone, and with the policy's own actions. */
  behaviours: z.array(
    z.object({ behaviour: z.enum(botBehaviours), byPreset: z.enum(botActions), action: z.enum(botActions) }),
  ),
  bots: z.array(
    z.object({
      id: z.string(),
      behaviours: z.array(z.enum(namedBehaviours)),
      tokens: z.array(z.string()),
      /** Where no override for a path says otherwise. */
      action: z.enum(botActions),
      told: z.enum(robotsTold),
      rules: z.array(z.string()),
    }),
  ),
});
export type RobotsResponse = z.infer<typeof robotsResponse>;
