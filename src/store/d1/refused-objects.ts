/**
 * Durable Objects that refuse their stored state, because another version wrote it. The objects write it at each start,
 * health reads what is recent: an object that is called again after an upgrade no longer refuses.
 */
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
    env.DB.prepare('DELETE FROM refused_objects WHERE at < ?').bind(nowMs - RECENT_MS),
    env.DB.prepare('INSERT OR REPLACE INTO refused_objects (object, name, age, at) VALUES (?, ?, ?, ?)').bind(
      object,
      name,
      age,
      nowMs,
    ),
  ]);
}

interface RefusedObjects {
  /** Name of the class. */
  object: string;
  age: StateAge;
  objects: number;
}

export async function refusedObjects(env: Pick<StoreEnv, 'DB'>, nowMs: number): Promise<RefusedObjects[]> {
  const { results } = await env.DB.prepare(
    'SELECT object, age, COUNT(*) AS objects FROM refused_objects WHERE at >= ? GROUP BY object, age ORDER BY object, age',
  )
    .bind(nowMs - RECENT_MS)
    .all<RefusedObjects>();
  return results;
}
