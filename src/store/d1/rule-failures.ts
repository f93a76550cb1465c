/**
 * Which instances' access rules cannot be compiled into a base or sent as a delta at the moment. Rule books write it;
 * health and metrics read it.
 */
import type { StoreEnv } from '../binding.ts';

/** `compile`: a new base. `delta`: the changes since the base. `file`: the base in R2, which was damaged or gone. */
export type RuleStep = 'compile' | 'delta' | 'file';

export interface RuleFailure {
  instanceId: string;
  step: RuleStep;
}

/** Keeps the time of the first failure in a row. */
export async function noteRuleFailure(
  env: StoreEnv,
  instanceId: string,
  step: RuleStep,
  isFailing: boolean,
  nowMs: number,
): Promise<void> {
  const statement = isFailing
    ? env.DB.prepare(
        'INSERT INTO rule_failures (instance_id, step, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      ).bind(instanceId, step, nowMs)
    : env.DB.prepare('DELETE FROM rule_failures WHERE instance_id = ? AND step = ?').bind(instanceId, step);
  await statement.run();
}

/** Of every account. */
export async function ruleFailures(env: StoreEnv): Promise<RuleFailure[]> {
  const { results } = await env.DB.prepare(
    'SELECT instance_id AS instanceId, step FROM rule_failures',
  ).all<RuleFailure>();
  return results;
}
