/** Attack mode as the management API takes and returns it. */
import * as z from 'zod/mini';

/** What an attack that is noticed does: switch attack mode on, only send an alert, or nothing. */
export const attackTriggers = ['enforce', 'alert', 'off'] as const;

const MINUTES_DEFAULT = 60;
const MINUTES_MIN = 5;
/** A week. */
const MINUTES_MAX = 10_080;

export const attackMinutes = z._default(z.int().check(z.gte(MINUTES_MIN), z.lte(MINUTES_MAX)), MINUTES_DEFAULT);

/** Requests a second below which nothing is an attack. */
const RATE_MAX = 1_000_000;
export const minimumRate = z.int().check(z.gte(1), z.lte(RATE_MAX));

export const attackModeStatus = z.object({
  active: z.boolean(),
  /** When it was switched on, and when it ends by itself; `null` while it is off. */
  since: z.nullable(z.int()),
  until: z.nullable(z.int()),
  by: z.nullable(z.enum(['operator', 'trigger'])),
  /** When the attack was noticed that lasts; `null`: there is none. */
  alarmSince: z.nullable(z.int()),
  trigger: z.enum(attackTriggers),
  minimumRate: z.int(),
});
