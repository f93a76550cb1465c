/**
 * The attack state of instances, in the row of each. A change is made only from the state that it was computed from, in
 * one transaction with what goes with it, so of two changes at the same time one is made.
 */
import { type AttackState, attackStateText } from '../../attack/attack-state.ts';
import type { StoreEnv } from '../binding.ts';
import { type StoredInstance, storedInstance } from './instances.ts';
import type { Row } from './rows.ts';

/** Holds while the state of the instance is still this one. */
export function isStill(
  instanceId: string,
  { revision }: AttackState,
): { sql: string; values: (string | number | null)[] } {
  return {
    sql: "EXISTS (SELECT 1 FROM protect_instances WHERE id = ? AND active = 1 AND json_extract(attack, '$.revision') IS ?)",
    values: [instanceId, revision],
  };
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
  const condition = isStill(instanceId, from);
  // Last, because the others look at the state before.
  const written = await env.DB.batch([
    ...also,
    env.DB.prepare(`UPDATE protect_instances SET attack = ? WHERE id = ? AND ${condition.sql}`).bind(
      attackStateText({ ...to, revision: from.revision }),
      instanceId,
      ...condition.values,
    ),
  ]);
  return written.at(-1)?.meta.changes === 1;
}

/**
 * Active instances with an alarm, or whose attack mode is over by its time, at most `limit`. Those that are over come
 * first, because they are done with one write; of the others chance gives each its turn.
 */
export async function instancesInAttack(env: StoreEnv, limit: number, nowMs: number): Promise<StoredInstance[]> {
  const { results } = await env.DB.prepare(
    `SELECT * FROM protect_instances WHERE active = 1 AND attack IS NOT NULL
       AND (json_extract(attack, '$.active.until') <= ?1 OR json_extract(attack, '$.alarm') IS NOT NULL)
     ORDER BY json_extract(attack, '$.active.until') <= ?1 DESC, RANDOM() LIMIT ?2`,
  )
    .bind(nowMs, limit)
    .all<Row>();
  return results.map(storedInstance);
}
