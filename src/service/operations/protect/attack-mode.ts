/** Attack mode of an instance. */
import * as z from 'zod/mini';
import { untilWritten } from '../stale-write.ts';
import { type AttackState, isUnderAttack, switchedOff, switchedOn } from '../../../attack/attack-state.ts';
import {
  attackMinutes,
  attackModeStatus,
  attackTriggers,
  minimumRate,
} from '../../../contract/management/attack-mode.ts';
import { type Operation, protectOperation } from '../define-operation.ts';
import { instanceOfCall, chosenSiteKey } from './chosen-instance.ts';
import { attackWatch } from '../../../store/attack-watch/client.ts';
import { writeAttackState } from '../../../store/d1/attack-states.ts';
import { instanceById } from '../../../store/d1/instances.ts';
import { NoActiveInstanceError } from '../operation-error.ts';

function attackModeResponse(state: AttackState, nowMs: number): z.infer<typeof attackModeStatus> {
  const active = isUnderAttack(state, nowMs) ? state.active : null;
  return {
    active: active !== null,
    since: active?.since ?? null,
    until: active?.until ?? null,
    by: active?.by ?? null,
    alarmSince: state.alarm,
    trigger: state.trigger,
    minimumRate: state.minimumRate,
  };
}

const MINUTE_MS = 60_000;
export const attackModeOperations: readonly Operation[] = [
  /** Whether attack mode is on, since when and until when. */
  protectOperation({
    name: 'get-attack-mode',
    path: '/protect/attack-mode',
    access: 'read',
    summary: 'Read attack mode',
    body: z.strictObject({ siteKey: chosenSiteKey }),
    response: attackModeStatus,
    async handler(context) {
      const { attack } = await instanceOfCall(context, context.body.siteKey);
      return attackModeResponse(attack, context.nowMs);
    },
  }),
  /**
   * Switches attack mode on for a time, or off, and says what an attack that is noticed does. Edges take it up with
   * their next poll. On again gives it another end.
   */
  protectOperation({
    name: 'set-attack-mode',
    path: '/protect/attack-mode/set',
    access: 'write',
    summary: 'Switch attack mode on or off',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      on: z.optional(z.boolean()),
      /** From now; without meaning unless `on` is `true`. */
      minutes: attackMinutes,
      trigger: z.optional(z.enum(attackTriggers)),
      minimumRate: z.optional(minimumRate),
    }),
    response: attackModeStatus,
    async handler(context) {
      const { store, body, nowMs } = context;
      let instance = await instanceOfCall(context, body.siteKey);
      return untilWritten('Others are changing attack mode; try again', async () => {
        const { id, attack } = instance;
        const next = changed(attack, body, nowMs);
        // What was usual before nobody watched says little afterwards, and an alarm of then nothing.
        if ((attack.trigger === 'off') !== (next.trigger === 'off')) await attackWatch(store, id).retire();
        if (await writeAttackState(store, id, attack, next)) {
          const [before, after] = [attackFields(attack, nowMs), attackFields(next, nowMs)];
          context.changes.note('attack mode', [{ name: instance.name, before, after }]);
          return attackModeResponse(next, nowMs);
        }
        const now = await instanceById(store, id);
        if (!now?.active) throw new NoActiveInstanceError();
        instance = now;
        return null;
      });
    },
  }),
];

function attackFields(state: AttackState, nowMs: number): object {
  const { active, until, trigger, minimumRate: rate } = attackModeResponse(state, nowMs);
  return { active, until, trigger, minimumRate: rate };
}

interface Change {
  on?: boolean | undefined;
  minutes: number;
  trigger?: AttackState['trigger'] | undefined;
  minimumRate?: number | undefined;
}

function changed(state: AttackState, { on, minutes, trigger, minimumRate: rate }: Change, nowMs: number): AttackState {
  const settled = { ...state, trigger: trigger ?? state.trigger, minimumRate: rate ?? state.minimumRate };
  if (on === undefined) return settled;
  return on ? switchedOn(settled, minutes * MINUTE_MS, nowMs) : switchedOff(settled);
}
