/** Where an operator looks first: that attack mode is on, or that an attack lasts. On a usual day, at most that it is off. */
import { useCall } from '../../api/call.ts';
import { Warning } from '../../components/page.tsx';
import { Time } from '../../components/values.tsx';
import { instanceAddress, type Instance } from '../../frame/instances.ts';
import type { Schema } from '../../api/service-api.ts';

export interface AttackNoticeProps {
  instance: Instance;
  /** `false`: other calls of the view come first. */
  isAsked?: boolean;
  /** Says that it is off, too. */
  isAlways?: boolean;
}

export function AttackNotice({ instance, isAsked = true, isAlways = false }: AttackNoticeProps) {
  const { value } = useCall('/protect/attack-mode', isAsked ? { siteKey: instance.globalSiteKey } : null, {
    everyMs: ATTACK_EVERY_MS,
  });
  if (value === null || (!value.active && value.alarmSince === null)) {
    if (!isAlways) return null;
    return (
      <p class="soft attack-off">
        {value !== null && (
          <>
            Attack mode is off. <a href={instanceAddress(instance)}>Switch it on</a>
          </>
        )}
      </p>
    );
  }
  const { active } = value;
  return (
    <Warning>
      <p role="status">
        {active ? (
          <>
            <b>Attack mode is on</b> <UntilWhen state={value} />
          </>
        ) : (
          <b>Attack mode is off.</b>
        )}{' '}
        <AlarmText state={value} /> <a href={instanceAddress(instance)}>Attack mode of {instance.name}</a>
      </p>
    </Warning>
  );
}

/** Attack mode in words, for the views that show it. */
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
