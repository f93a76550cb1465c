/**
 * Notes in the audit trail that attack mode has ended by its time. Edges need no note: the time is part of the state.
 */
import { isUnderAttack } from '../../attack/attack-state.ts';
import { instancesInAttack, isStill, writeAttackState } from '../../store/d1/attack-states.ts';
import { auditByService } from '../../store/d1/management-audit.ts';
import type { ServiceStore } from '../environment.ts';

const INSTANCES_PER_RUN = 100;

export async function endAttackModes(store: ServiceStore, nowMs: number): Promise<void> {
  for (const { id, accountId, globalSiteKey: siteKey, attack } of await instancesInAttack(store, INSTANCES_PER_RUN)) {
    if (attack.active === null || isUnderAttack(attack, nowMs)) continue;
    const { since, until, by } = attack.active;
    const entry = {
      at: nowMs,
      operation: 'end-attack-mode',
      body: { siteKey, reason: 'its time was over', since, until, by },
    };
    const note = auditByService(store, accountId, entry, isStill(id, attack));
    await writeAttackState(store, id, attack, { ...attack, active: null }, [note]);
  }
}
