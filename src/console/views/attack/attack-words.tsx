/** Attack mode in words, for the views that show it. */
import type { Schema } from '../../api/service-api.ts';
import { Time } from '../../components/values.tsx';

export type AttackMode = Schema<'AttackMode'>;
export type Trigger = AttackMode['trigger'];

export function UntilWhen({ state: { until, by } }: { state: AttackMode }) {
  return (
    <>
      until <Time at={until} isBrief />, switched on by {by === 'trigger' ? 'the surge of traffic' : 'an operator'}.
    </>
  );
}

export function AlarmText({ state: { alarmSince } }: { state: AttackMode }) {
  return (
    alarmSince !== null && (
      <>
        An attack was noticed at <Time at={alarmSince} isBrief /> and lasts.
      </>
    )
  );
}

export const triggers: readonly (readonly [Trigger, string])[] = [
  ['enforce', 'switch attack mode on, and send an alert'],
  ['alert', 'send an alert'],
  ['off', 'do nothing'],
];

/** Attack mode has an end, so a page that stays open asks again. */
export const ATTACK_EVERY_MS = 15_000;
