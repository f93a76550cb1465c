/** Which instances are looked at next, and what their edges had counted the last time. */
import type { StoreEnv } from '../binding.ts';
import { type StoredInstance, storedInstance } from './instances.ts';
import type { Row } from './rows.ts';

export interface DueCheck {
  instance: StoredInstance;
  /** What the last check left; `null` at the first. */
  remembered: string | null;
}

/**
 * Active instances whose check is due, those that wait longest first. Each is put off until `againAt`, so that parallel
 * runs take other ones, and a check that fails is repeated then.
 */
export async function takeDueChecks(env: StoreEnv, limit: number, nowMs: number, againAt: number): Promise<DueCheck[]> {
  const [, due] = await env.DB.batch<{ id: string; counters: string | null }>([
    env.DB.prepare(
      `INSERT INTO alert_checks (instance_id, due_at) SELECT instance.id, 0 FROM protect_instances AS instance
       JOIN accounts ON accounts.id = account_id WHERE instance.active = 1 AND disabled = 0 ON CONFLICT DO NOTHING`,
    ),
    env.DB.prepare(
      `UPDATE alert_checks SET due_at = ?1 WHERE instance_id IN (
         SELECT instance_id FROM alert_checks JOIN protect_instances AS instance ON instance.id = instance_id
         JOIN accounts ON accounts.id = account_id
         WHERE due_at <= ?2 AND instance.active = 1 AND disabled = 0 ORDER BY due_at LIMIT ?3)
       RETURNING instance_id AS id, counters`,
    ).bind(againAt, nowMs, limit),
  ]);
  const taken = new Map(due?.results.map(({ id, counters }) => [id, counters]));
  if (taken.size === 0) return [];
  const rows = await env.DB.prepare(
    'SELECT * FROM protect_instances WHERE id IN (SELECT value FROM json_each(?)) AND active = 1',
  )
    .bind(JSON.stringify([...taken.keys()]))
    .all<Row>();
  return rows.results.map((row) => ({ instance: storedInstance(row), remembered: taken.get(row['id'] as string) ?? null }));
}

/** For the next check. */
export async function rememberCheck(env: StoreEnv, instanceId: string, remembered: string): Promise<void> {
  await env.DB.prepare('UPDATE alert_checks SET counters = ? WHERE instance_id = ?').bind(remembered, instanceId).run();
}
