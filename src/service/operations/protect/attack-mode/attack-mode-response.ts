/** Attack mode of an instance as the API returns it. */
import type * as z from 'zod/mini';
import { type AttackState, isUnderAttack } from '../../../../attack/attack-state.ts';
import type { attackModeStatus } from '../../../../contract/management/attack-mode.ts';

export function attackModeResponse(state: AttackState, nowMs: number): z.infer<typeof attackModeStatus> {
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
