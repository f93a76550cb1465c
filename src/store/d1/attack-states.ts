/**
 * The attack state of instances, in the row of each. A change is made only from the state that it was computed from, in
 * one transaction with what goes with it, so of two changes at the same time one is made.
 */
import { sql, type Sql, statement } from '../sql.ts';
import { type AttackState, attackStateText } from '../../attack/attack-state.ts';
import type { StoreEnv } from '../binding.ts';
import { type StoredInstance, storedInstance } from './instances.ts';
import type { Row } from './rows.ts';

/** Holds while the state of the instance is still this one. */
export function isStill(instanceId: string, { revision }: AttackState): Sql {
  return sql`EXISTS (SELECT 1 FROM protect_instances
    WHERE id = ${instanceId} AND active = 1 AND json_extract(attack, '$.revision') IS ${revision})`;
}

/**
 * Changes the state. `also`: statements of the same transaction, each with the condition `isStill`. Returns whether it
 * was changed: `false` when somebody else was faster.
 */
export async function writeAttackState(
  env: StoreEnv,
  instanceId: string,
  from: AttackState,
  to: AttackState,
  also: readonly D1PreparedStatement[] = [],
): Promise<boolean> {
  const text = attackStateText({ ...to, revision: from.revision });
  // Last, because the others look at the state before.
  const written = await env.DB.batch([
    ...also,
    statement(env)`
      UPDATE protect_instances SET attack = ${text} WHERE id = ${instanceId} AND ${isStill(instanceId, from)}`,
  ]);
  return written.at(-1)?.meta.changes === 1;
}

/**
 * Active instances with an alarm, or whose attack mode is over by its time, at most `limit`. Those that are over come
 * first, because they are done with one write; of the others chance gives each its turn.
 */
export async function instancesInAttack(env: StoreEnv, limit: number, nowMs: number): Promise<StoredInstance[]> {
  const { results } = await statement(env)`
    SELECT * FROM protect_instances
    WHERE active = 1 AND attack IS NOT NULL
      AND (json_extract(attack, '$.active.until') <= ${nowMs} OR json_extract(attack, '$.alarm') IS NOT NULL)
    ORDER BY json_extract(attack, '$.active.until') <= ${nowMs} DESC, RANDOM() LIMIT ${limit}`.all<Row>();
  return results.map(storedInstance);
}
