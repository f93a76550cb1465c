/** How the service reaches the AttackWatch of an instance. */
import { inJurisdiction } from '../jurisdiction.ts';
import type { AttackWatchRpc } from './rpc.ts';

type AttackWatchEnv = Pick<ServiceEnv, 'ATTACK_WATCH' | 'JURISDICTION'>;

export function attackWatch({ ATTACK_WATCH, JURISDICTION }: AttackWatchEnv, instanceId: string): AttackWatchRpc {
  return inJurisdiction(ATTACK_WATCH, JURISDICTION).getByName(instanceId) as unknown as AttackWatchRpc;
}
