/**
 * What attack mode changes: a page without a session is challenged, and what is newly asked for costs more work. It lies
 * over the instance's own settings, which stay as they are. Rules, verified bots and clearances that were earned are not
 * touched: the edge compares a clearance with the demand of the settings, so nobody is asked twice.
 */
import type { InstancePolicy } from '../contract/management/instance-policy.ts';

/** Half steps of difficulty: 2.5 times the work. */
export const ATTACK_STEPS = 4;

/** The policy that edges enforce meanwhile. */
export function attackPolicy(policy: InstancePolicy): InstancePolicy {
  const { html, json } = policy.enforcementPolicy;
  if (html.onPending === 'challenge' || html.onPending === 'block') return policy;
  return { ...policy, enforcementPolicy: { html: { ...html, onPending: 'challenge' }, json } };
}
