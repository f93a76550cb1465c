/**
 * What Durable Objects fail in. Objects that refuse their stored state, because another version wrote it, note it at each
 * start; health reads what is recent: an object that is called again after an upgrade no longer refuses. Rule books note
 * which instances' access rules cannot be compiled into a base or sent as a delta at the moment; health and metrics read
 * it.
 */
import { statement } from '../sql.ts';
import type { StoreEnv } from '../binding.ts';

export type StateAge = 'newer' | 'older';

/** How long a refusal is news: edges call what they need every few minutes. */
const RECENT_MS = 3_600_000;

export async function noteRefusedObject(
  env: Pick<StoreEnv, 'DB'>,
  object: string,
  name: string,
  age: StateAge,
  nowMs: number,
): Promise<void> {
  await env.DB.batch([
    statement(env)`DELETE FROM refused_objects WHERE at < ${nowMs - RECENT_MS}`,
    statement(env)`
      INSERT OR REPLACE INTO refused_objects (object, name, age, at) VALUES (${object}, ${name}, ${age}, ${nowMs})`,
  ]);
}

interface RefusedObjects {
  /** Name of the class. */
  object: string;
  age: StateAge;
  objects: number;
}

export async function refusedObjects(env: Pick<StoreEnv, 'DB'>, nowMs: number): Promise<RefusedObjects[]> {
  const { results } = await statement(env)`
    SELECT object, age, COUNT(*) AS objects FROM refused_objects
    WHERE at >= ${nowMs - RECENT_MS} GROUP BY object, age ORDER BY object, age`.all<RefusedObjects>();
  return results;
}

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
  const change = isFailing
    ? statement(env)`
      INSERT INTO rule_failures (instance_id, step, since) VALUES (${instanceId}, ${step}, ${nowMs})
        ON CONFLICT DO NOTHING`
    : statement(env)`DELETE FROM rule_failures WHERE instance_id = ${instanceId} AND step = ${step}`;
  await change.run();
}

/** Of every account. */
export async function ruleFailures(env: StoreEnv): Promise<RuleFailure[]> {
  const { results } = await statement(env)`
    SELECT instance_id AS instanceId, step FROM rule_failures`.all<RuleFailure>();
  return results;
}
