/**
 * Brings the state of an instance in line with the alarm of its watch: switches attack mode on or off where the operator
 * wants that, notes it in the audit trail, and sends the alert at once. All of it is one transaction, made only from the
 * state that was read, so of many isolates that hear of an alarm one acts.
 */
import { alertId } from '../../alerts/alert.ts';
import type { Alert } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kinds/kinds.ts';
import { afterAlarm, isUnderAttack } from '../../attack/attack-state.ts';
import type { AttackState } from '../../attack/attack-state.ts';
import type { Alarm } from '../../attack/watch.ts';
import { recordAlert } from '../../store/d1/alerts.ts';
import { isStill, writeAttackState } from '../../store/d1/attack-states.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { auditByService } from '../../store/d1/management-audit.ts';
import { deliverDue } from '../alerts/deliver-alerts.ts';
import { postingOver } from '../alerts/post-alert.ts';
import type { ServiceEnvironment } from '../environment.ts';

type Settling = Pick<ServiceEnvironment, 'store' | 'outbound'>;

/** `alarm`: the one that lasts, or `null`. `instance`: as it was read for the call that heard of it. */
export async function settleAlarm(
  { store, outbound }: Settling,
  instance: StoredInstance,
  alarm: Alarm | null,
  nowMs: number,
): Promise<void> {
  const { id, attack } = instance;
  const next = afterAlarm(attack, alarm?.since ?? null, nowMs);
  const isNews = attack.alarm !== next.alarm;
  const isChange = attack.active?.until !== next.active?.until;
  if (!isNews && !isChange) return;
  const condition = isStill(id, attack);
  const alerts = await Promise.all(alertsOf(instance, alarm, next, nowMs));
  const notes = isChange ? [auditByService(store, instance.accountId, changeOf(instance, next, nowMs), condition)] : [];
  const statements = [...alerts.flatMap((alert) => recordAlert(store, alert, condition)), ...notes];
  const isWritten = await writeAttackState(store, id, attack, next, statements);
  if (isWritten && alerts.length > 0) await deliverDue(store, postingOver(outbound), nowMs);
}

/** The end of the alarm that was known, and the beginning of the one that is. */
function alertsOf(instance: StoredInstance, alarm: Alarm | null, next: AttackState, nowMs: number): Promise<Alert>[] {
  const before = instance.attack.alarm;
  if (before === next.alarm) return [];
  const attackMode = isUnderAttack(next, nowMs) ? 'on' : 'off';
  const ended = before === null ? [] : [alertOf(instance, 'ends', before, { attackMode }, nowMs)];
  if (alarm === null) return ended;
  const { reason, since } = alarm;
  const [rate, usualRate] = [Math.round(alarm.rate), Math.round(alarm.usualRate * 10) / 10];
  return [...ended, alertOf(instance, 'begins', since, { reason, rate, usualRate, attackMode }, nowMs)];
}

async function alertOf(
  { accountId, id: instanceId, name }: StoredInstance,
  phase: 'begins' | 'ends',
  moment: number,
  facts: Alert['facts'],
  nowMs: number,
): Promise<Alert> {
  const owned = { accountId, instanceId, kind: 'attack', phase, subject: '', facts } as const;
  return { ...owned, id: await alertId({ ...owned, moment }), at: nowMs, summary: summaryOf(owned, name) };
}

function changeOf({ globalSiteKey: siteKey }: StoredInstance, { active, alarm }: AttackState, at: number) {
  if (active === null) return { at, operation: 'end-attack-mode', body: { siteKey, reason: 'the attack is over' } };
  const { since, until } = active;
  return {
    at,
    operation: 'begin-attack-mode',
    body: { siteKey, reason: 'an attack was noticed', alarm, since, until },
  };
}
