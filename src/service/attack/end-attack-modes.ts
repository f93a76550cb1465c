/**
 * Looks at instances with attack mode or an alarm, because nobody reports when no traffic comes any more: ends an alarm
 * that is over, and notes in the audit trail that attack mode has ended by its time. Edges need no note: the time is part of
 * the state.
 */
import { isUnderAttack } from '../../attack/attack-state.ts';
import { attackWatch } from '../../store/attack-watch/client.ts';
import { instancesInAttack, isStill, writeAttackState } from '../../store/d1/attack-states.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { auditByService } from '../../store/d1/management-audit.ts';
import type { ServiceEnvironment, ServiceStore } from '../environment.ts';
import { attackModeOf, settleAlarm } from './settle-alarm.ts';

const INSTANCES_PER_RUN = 100;

export async function endAttackModes(
  store: ServiceStore,
  nowMs: number,
  outbound: ServiceEnvironment['outbound'],
): Promise<void> {
  for (const instance of await instancesInAttack(store, INSTANCES_PER_RUN, nowMs)) {
    const { id, attack } = instance;
    if (attack.active !== null && !isUnderAttack(attack, nowMs)) await noteEnd(store, instance, nowMs);
    else if (attack.alarm !== null) {
      const isWatched = attack.trigger !== 'off';
      const alarm = isWatched ? await attackWatch(store, id).alarmNow({ minimumRate: attack.minimumRate }) : null;
      // One that lasts extends attack mode by its traffic, and not by the passing of time.
      if (alarm === null) await settleAlarm({ store, outbound }, instance, alarm, nowMs);
    }
  }
}

async function noteEnd(
  store: ServiceStore,
  { id, accountId, globalSiteKey, attack, name }: StoredInstance,
  at: number,
) {
  const body = { siteKey: globalSiteKey, reason: 'its time was over', ...attack.active };
  const entry = { at, operation: 'end-attack-mode', body, changes: attackModeOf(name) };
  const note = auditByService(store, accountId, entry, isStill(id, attack));
  await writeAttackState(store, id, attack, { ...attack, active: null }, [note]);
}
