/** `POST /protect/robots`: what robots.txt says, and what it would say without the gate. */
import * as z from 'zod/mini';
import { botActions, botBehaviours, robotsStates } from '../vocabulary.ts';
import { botPolicy } from './bot-policy.ts';
import { siteKeyField } from './verdict-query.ts';

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
      behaviours: z.array(z.enum(botBehaviours)),
      tokens: z.array(z.string()),
      /** Where no override for a path says otherwise. */
      action: z.enum(botActions),
      told: z.enum(robotsTold),
      rules: z.array(z.string()),
    }),
  ),
});
export type RobotsResponse = z.infer<typeof robotsResponse>;
