/** Where an operator looks first: that attack mode is on, or that an attack lasts. On a usual day, at most that it is off. */
import { useCall } from '../../api/call.ts';
import { Warning } from '../../components/page.tsx';
import { instanceAddress, type Instance } from '../../frame/instances.ts';
import { useAttackSwitch } from './attack-switch.tsx';
import { AlarmText, ATTACK_EVERY_MS, UntilWhen } from './attack-words.tsx';

export interface AttackNoticeProps {
  instance: Instance;
  /** Says that it is off, too. */
  isAlways?: boolean;
}

export function AttackNotice({ instance, isAlways = false }: AttackNoticeProps) {
  const siteKey = instance.globalSiteKey;
  const { value, reload } = useCall('/protect/attack-mode', { siteKey }, { everyMs: ATTACK_EVERY_MS });
  const { buttons, dialog } = useAttackSwitch(siteKey, value, reload, true);
  const isUsual = value === null || (!value.active && value.alarmSince === null);
  return (
    <>
      {!isUsual && (
        <Warning>
          <p role="status">
            {value.active ? (
              <>
                <b>Attack mode is on</b> <UntilWhen state={value} />
              </>
            ) : (
              <b>Attack mode is off.</b>
            )}{' '}
            <AlarmText state={value} /> <a href={instanceAddress(instance)}>Attack mode of {instance.name}</a>
          </p>
          <div class="actions">{buttons}</div>
        </Warning>
      )}
      {isUsual && isAlways && (
        <div class="row soft attack-off">
          {value !== null && <span>Attack mode is off.</span>}
          {buttons}
        </div>
      )}
      {dialog}
    </>
  );
}
