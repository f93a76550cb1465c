/**
 * `POST /protect/attack-mode/set`: switches attack mode on for a time, or off, and says what an attack that is noticed
 * does. Edges take it up with their next poll. On again gives it another end.
 */
import * as z from 'zod/mini';
import { type AttackState, switchedOff, switchedOn } from '../../../../attack/attack-state.ts';
import {
  attackMinutes,
  attackModeStatus,
  attackTriggers,
  minimumRate,
} from '../../../../contract/management/attack-mode.ts';
import { attackWatch } from '../../../../store/attack-watch/client.ts';
import { writeAttackState } from '../../../../store/d1/attack-states.ts';
import { instanceById } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { NoActiveInstanceError, OperationError } from '../../operation-error.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { attackModeResponse } from './attack-mode-response.ts';

const MINUTE_MS = 60_000;
/** Each failed attempt means that another change succeeded. */
const ATTEMPTS_MAX = 10;

export const setAttackMode = operation({
  name: 'set-attack-mode',
  method: 'POST',
  path: '/protect/attack-mode/set',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Switch attack mode on or off',
  body: z.strictObject({
    siteKey: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
    on: z.optional(z.boolean()),
    /** From now; without meaning unless `on` is `true`. */
    minutes: attackMinutes,
    trigger: z.optional(z.enum(attackTriggers)),
    minimumRate: z.optional(minimumRate),
  }),
  response: attackModeStatus,
  async handler(context) {
    const { store, body, nowMs } = context;
    let instance = await chosenInstance(context, body.siteKey);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { id, attack } = instance;
      const next = changed(attack, body, nowMs);
      // What was usual before nobody watched says little afterwards, and an alarm of then nothing.
      if ((attack.trigger === 'off') !== (next.trigger === 'off')) await attackWatch(store, id).retire();
      if (await writeAttackState(store, id, attack, next)) return attackModeResponse(next, nowMs);
      const now = await instanceById(store, id);
      if (!now?.active) throw new NoActiveInstanceError();
      instance = now;
    }
    throw new OperationError('API.CONFLICT', 'Others are changing attack mode; try again');
  },
});

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
