/**
 * Alerts as the management API takes and returns them: where they are sent (channels), when they wait (quiet hours), and
 * the kinds of what happened. A kind is here by its name, and in `src/alerts/kind-words.ts` with its words.
 */
import * as z from 'zod/mini';
import { isOutboundAddress } from './outbound-address.ts';

export const alertKinds = [
  'attack',
  'client-jwt-expiring',
  'api-key-expiring',
  'rules-stale',
  'list-stale',
  'verdicts-lost',
  'storage-filling',
  'origin-failing',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** `test` is what the operator asked for with "send a test". Nobody chooses it for a channel. */
export const sentKinds = [...alertKinds, 'test'] as const;
export type SentKind = (typeof sentKinds)[number];

/** A state begins and ends; anything else happens once. */
export const alertPhases = ['begins', 'ends', 'once'] as const;
export type AlertPhase = (typeof alertPhases)[number];

export const channelShapes = ['webhook', 'slack', 'discord'] as const;
export type ChannelShape = (typeof channelShapes)[number];

/** `waiting`: it is sent, or sent again. `given-up`: no attempt of a whole day was accepted. */
export const deliveryStates = ['waiting', 'sent', 'given-up'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** More channels than teams have. Each event is one delivery to each of them. */
export const ALERT_CHANNELS_MAX = 20;
const NAME_MAX_CHARS = 100;
const URL_MAX_CHARS = 2048;

const timeOfDay = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

export const quietHours = z
  .strictObject({
    from: timeOfDay,
    until: timeOfDay,
    /** Name of the IANA database, such as `Europe/Berlin`. */
    timeZone: z.string().check(z.minLength(1), z.maxLength(64), z.refine(isTimeZone, 'is not a known time zone')),
    /** Sent at any hour. */
    except: z._default(z.array(z.enum(alertKinds)).check(z.maxLength(alertKinds.length)), []),
  })
  .check(z.refine(({ from, until }) => from !== until, { message: 'must not be the same as from', path: ['until'] }));
export type QuietHours = z.infer<typeof quietHours>;

/** What a channel is made with. */
export const channelFields = {
  name: z.string().check(z.trim(), z.minLength(1), z.maxLength(NAME_MAX_CHARS)),
  /** Holds a secret with Slack and Discord, so it is never shown again. */
  webhookUrl: z
    .string()
    .check(z.maxLength(URL_MAX_CHARS), z.refine(isOutboundAddress, 'must be an https address with a public host name')),
  /** Kinds that are sent here; empty means every kind. */
  kinds: z.array(z.enum(alertKinds)).check(z.maxLength(alertKinds.length)),
  quietHours: z.nullable(quietHours),
  enabled: z.boolean(),
};

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
