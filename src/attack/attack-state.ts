/**
 * The state of an instance in an attack: whether attack mode is on and until when, and the alarm that was noticed last.
 * Attack mode always has an end, so that a switch that somebody forgot does not go on challenging visitors. Pure: every
 * change returns the state that follows.
 */
import * as z from 'zod/mini';
import { parseJson } from '../bytes/json.ts';
import { attackTriggers } from '../contract/management/attack-mode.ts';
import { type InstancePolicy, instancePolicy } from '../contract/management/instance-policy.ts';

const moment = z.int();

const stored = z.object({
  /** Rises with every change. */
  revision: z.int(),
  /** Attack mode; `null`: off. An `until` that is over is off too, whether or not that was noted. */
  active: z.nullable(z.object({ since: moment, until: moment, by: z.enum(['operator', 'trigger']) })),
  /** When the alarm began that lasts; `null`: there is none. */
  alarm: z.nullable(moment),
  /** The alarm for which an operator switched attack mode off: it is not switched on again for that one. */
  declined: z.nullable(moment),
  /** Alarms of the last hours that an alert has told of, and their requests a second. */
  told: z._default(z.array(z.object({ since: moment, rate: z.number() })), []),
  /** What an alarm does. */
  trigger: z.enum(attackTriggers),
  /** Requests a second below which nothing is an attack. */
  minimumRate: z.int(),
});
export type AttackState = Omit<z.infer<typeof stored>, 'revision'> & {
  /** `null`: nothing was ever set. */
  revision: number | null;
};

const MINIMUM_RATE_DEFAULT = 100;

const unset: AttackState = {
  revision: null,
  active: null,
  alarm: null,
  declined: null,
  told: [],
  trigger: 'enforce',
  minimumRate: MINIMUM_RATE_DEFAULT,
};

/** Short, and extended by the traffic of an alarm that lasts. So it ends by the clock when nobody comes any more. */
const TRIGGERED_MS = 300_000;
const EXTENDED_BEFORE_MS = 150_000;

/** Who makes an alarm every few minutes fills no inbox: so many are told of in this time, and the others if much larger. */
export const ALARMS_TOLD = 4;
const TOLD_WITHIN_MS = 6 * 3_600_000;
const LARGER_TIMES = 4;

/** `text`: as it is stored. */
export function attackStateOf(text: string | null): AttackState {
  const read = stored.safeParse(parseJson(text));
  return read.success ? read.data : unset;
}

export function attackStateText(state: AttackState): string {
  return JSON.stringify({ ...state, revision: (state.revision ?? 0) + 1 });
}

export function isUnderAttack({ active }: AttackState, nowMs: number): boolean {
  return active !== null && nowMs < active.until;
}

/** An operator switches it on, or gives it another end. */
export function switchedOn(state: AttackState, forMs: number, nowMs: number): AttackState {
  const since = isUnderAttack(state, nowMs) && state.active !== null ? state.active.since : nowMs;
  return { ...state, active: { since, until: nowMs + forMs, by: 'operator' }, declined: null };
}

export function switchedOff(state: AttackState): AttackState {
  return { ...state, active: null, declined: state.alarm };
}

/** Whether an alert tells of an alarm that begins: the alarms told of with it, or `null`. */
export function toldWith(
  { told }: AttackState,
  { since, rate }: { since: number; rate: number },
  nowMs: number,
): AttackState['told'] | null {
  const lately = told.filter((one) => nowMs - one.since < TOLD_WITHIN_MS);
  const isLarger = rate > 0 && rate >= LARGER_TIMES * Math.max(...lately.map((one) => one.rate));
  if (lately.length >= ALARMS_TOLD && !isLarger) return null;
  return [...lately, { since, rate }].slice(-ALARMS_TOLD);
}

/** `alarm`: when the one began that lasts now; `null`: there is none. What an operator set stays as it is. */
export function afterAlarm(state: AttackState, alarm: number | null, nowMs: number): AttackState {
  const before = isUnderAttack(state, nowMs) ? state.active : null;
  const next = { ...state, alarm, active: before };
  if (before?.by === 'operator') return next;
  if (alarm === null) return { ...next, active: null, declined: null };
  if (state.trigger !== 'enforce' || state.declined === alarm) return next;
  if (before !== null && before.until - nowMs > EXTENDED_BEFORE_MS) return next;
  return { ...next, active: { since: before?.since ?? nowMs, until: nowMs + TRIGGERED_MS, by: 'trigger' } };
}

/** Half steps of difficulty: 2.5 times the work. */
export const ATTACK_STEPS = 4;

/**
 * The policy that edges enforce meanwhile: a page without a session is challenged. It lies over the instance's own
 * settings, which stay as they are. Rules, verified bots and clearances that were earned are not touched: the edge compares
 * a clearance with the demand of the settings, so nobody is asked twice.
 */
export function attackPolicy(policy: InstancePolicy): InstancePolicy {
  const { html, json } = policy.enforcementPolicy;
  if (html.onPending === 'challenge' || html.onPending === 'block') return policy;
  return { ...policy, enforcementPolicy: { html: { ...html, onPending: 'challenge' }, json } };
}

/**
 * The settings that decide about requests now; in attack mode they are stricter. In the order of the schema, so that the
 * hash of a config does not depend on how a row was written.
 */
export function currentPolicy(instance: InstancePolicy & { attack: AttackState }, nowMs: number): InstancePolicy {
  const fields = Object.keys(instancePolicy.shape) as (keyof InstancePolicy)[];
  const policy = Object.fromEntries(fields.map((field) => [field, instance[field]])) as InstancePolicy;
  return isUnderAttack(instance.attack, nowMs) ? attackPolicy(policy) : policy;
}
