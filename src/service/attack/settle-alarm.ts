/**
 * Brings the state of an instance in line with the alarm of its watch: switches attack mode on or off where the operator
 * wants that, notes it in the audit trail, and sends the alert at once. All of it is one transaction, made only from the
 * state that was read, so of many isolates that hear of an alarm one acts.
 */
import { alertId, type Alert } from '../../alerts/alert.ts';
import { summaryOf } from '../../alerts/kind-words.ts';
import { ALARMS_TOLD, afterAlarm, isUnderAttack, toldWith, type AttackState } from '../../attack/attack-state.ts';
import type { Alarm } from '../../attack/watch.ts';
import { recordAlert } from '../../store/d1/alerts.ts';
import { isStill, writeAttackState } from '../../store/d1/attack-states.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { auditByService } from '../../store/d1/management-audit.ts';
import type { AuditChanges } from '../../contract/management/audit-changes.ts';
import { deliverDue, postingOver } from '../alerts/deliver-alerts.ts';
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
  const settled = afterAlarm(attack, alarm?.since ?? null, nowMs);
  const isNews = attack.alarm !== settled.alarm;
  const told = isNews && alarm !== null ? toldWith(attack, alarm, nowMs) : null;
  const next = { ...settled, told: told ?? attack.told };
  const isChange = attack.active?.until !== next.active?.until;
  if (!isNews && !isChange) return;
  const condition = isStill(id, attack);
  const alerts = await Promise.all(alertsOf(instance, told === null ? null : alarm, next, nowMs));
  const notes = isChange
    ? changesOf(instance, next, nowMs).map((change) => auditByService(store, instance.accountId, change, condition))
    : [];
  const statements = [...alerts.flatMap((alert) => recordAlert(store, alert, condition)), ...notes];
  const isWritten = await writeAttackState(store, id, attack, next, statements);
  if (!isWritten || alerts.length === 0) return;
  const first = alerts.map((alert) => alert.id);
  await deliverDue(store, postingOver(outbound), nowMs, first);
}

/** The end of the alarm that was known, where its beginning was told; and the beginning of the one to tell of. */
function alertsOf(instance: StoredInstance, begun: Alarm | null, next: AttackState, nowMs: number): Promise<Alert>[] {
  const { alarm: before, told, trigger } = instance.attack;
  if (before === next.alarm) return [];
  const attackMode = isUnderAttack(next, nowMs) ? 'on' : 'off';
  const wasTold = before !== null && told.some(({ since }) => since === before);
  const facts = { attackMode, ...(trigger === 'off' ? { watched: 'no' } : {}) };
  const ended = wasTold ? [alertOf(instance, 'ends', before, facts, nowMs)] : [];
  if (begun === null) return ended;
  const { reason, since } = begun;
  const [rate, usualRate] = [Math.round(begun.rate), Math.round(begun.usualRate * 10) / 10];
  const isLast = next.told.length === ALARMS_TOLD;
  const begins = { reason, rate, usualRate, attackMode, ...(isLast ? { told: 'last' } : {}) };
  return [...ended, alertOf(instance, 'begins', since, begins, nowMs)];
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

/** The audit trail names the instance. The reason is in the body. */
export function attackModeOf(instance: string): AuditChanges {
  const named = { kind: 'attack mode', change: 'named' } as const;
  return { instance, counts: [{ ...named, count: 1 }], items: [{ ...named, name: instance, fields: [] }] };
}

/** Of attack mode, for the audit trail. One that ended by its time, and begins again, has both. */
function changesOf(
  { globalSiteKey: siteKey, attack, name }: StoredInstance,
  { active, alarm }: AttackState,
  at: number,
): Parameters<typeof auditByService>[2][] {
  const before = attack.active;
  const changes = attackModeOf(name);
  const isOn = isUnderAttack(attack, at);
  if (active === null) {
    const reason = isOn ? 'the attack is over' : 'its time was over';
    return [{ at, operation: 'end-attack-mode', body: { siteKey, reason }, changes }];
  }
  const { since, until } = active;
  // That the attack goes on is noted with its end.
  if (isOn) return [];
  const begin = { siteKey, reason: 'an attack was noticed', alarm, since, until };
  const begins = { at, operation: 'begin-attack-mode', body: begin, changes };
  if (before === null) return [begins];
  const end = { siteKey, reason: 'its time was over', ...before };
  return [{ at: before.until, operation: 'end-attack-mode', body: end, changes }, begins];
}
