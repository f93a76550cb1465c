/**
 * The robots.txt of each origin, as edges last read it. Visitors choose host names where an instance does not list its own,
 * so an instance has a bounded number of them: a new one takes the place of one that nobody has asked for in a day.
 */
import type { RobotsState } from '../../contract/vocabulary.ts';
import type { StoreEnv } from '../binding.ts';

export const ROBOTS_HOSTS_MAX = 50;
/** A file that stayed the same is written this often, so that its time is right to the hour. */
const SEEN_STEP_MS = 3_600_000;
const FORGOTTEN_AFTER_MS = 86_400_000;

export interface RobotsHost {
  host: string;
  state: RobotsState;
  /** When the origin last gave an answer. `null`: it never did. */
  readAt: number | null;
  /** When an edge last asked the origin. */
  seenAt: number;
}
interface RobotsFile extends RobotsHost {
  /** The last answer of the origin; empty where it has no file. */
  text: string;
}

/** What an edge read. */
export interface ReadRobotsFile {
  host: string;
  state: RobotsState;
  text: string;
  /** Of the text. */
  hash: string;
}

const HOST_COLUMNS = 'host, state, read_at AS readAt, seen_at AS seenAt';

/** The newest first. */
export async function robotsHosts(env: StoreEnv, instanceId: string): Promise<RobotsHost[]> {
  const { results } = await env.DB.prepare(
    `SELECT ${HOST_COLUMNS} FROM robots_files WHERE instance_id = ? ORDER BY seen_at DESC, host`,
  )
    .bind(instanceId)
    .all<RobotsHost>();
  return results;
}

export async function robotsFile(env: StoreEnv, instanceId: string, host: string): Promise<RobotsFile | null> {
  return env.DB.prepare(`SELECT ${HOST_COLUMNS}, text FROM robots_files WHERE instance_id = ? AND host = ?`)
    .bind(instanceId, host)
    .first<RobotsFile>();
}

/**
 * Keeps what an edge read. A failure keeps the text before it. Nothing is kept of a deleted instance, whose rows went with
 * it.
 */
export async function keepRobotsFile(
  env: StoreEnv,
  instanceId: string,
  { host, state, text, hash }: ReadRobotsFile,
  nowMs: number,
): Promise<void> {
  const isRead = state !== 'error';
  const known = await env.DB.prepare(
    'SELECT state, hash, seen_at AS seenAt FROM robots_files WHERE instance_id = ? AND host = ?',
  )
    .bind(instanceId, host)
    .first<{ state: RobotsState; hash: string; seenAt: number }>();
  const isSame = known?.state === state && (!isRead || known.hash === hash);
  if (isSame && nowMs - known.seenAt < SEEN_STEP_MS) return;
  await env.DB.batch([
    env.DB.prepare(
      `DELETE FROM robots_files WHERE instance_id = ?1
         AND host = (SELECT host FROM robots_files WHERE instance_id = ?1 AND seen_at < ?2 ORDER BY seen_at LIMIT 1)
         AND ?3 NOT IN (SELECT host FROM robots_files WHERE instance_id = ?1)
         AND (SELECT count(*) FROM robots_files WHERE instance_id = ?1) >= ?4`,
    ).bind(instanceId, nowMs - FORGOTTEN_AFTER_MS, host, ROBOTS_HOSTS_MAX),
    env.DB.prepare(
      `INSERT INTO robots_files (instance_id, host, text, hash, state, read_at, seen_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
         WHERE EXISTS (SELECT 1 FROM protect_instances WHERE id = ?1 AND active = 1)
           AND (SELECT count(*) FROM robots_files WHERE instance_id = ?1 AND host <> ?2) < ?8
       ON CONFLICT (instance_id, host) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at,
         text = iif(?6 IS NULL, text, excluded.text), hash = iif(?6 IS NULL, hash, excluded.hash),
         read_at = coalesce(?6, read_at)`,
    ).bind(
      instanceId,
      host,
      isRead ? text : '',
      isRead ? hash : '',
      state,
      isRead ? nowMs : null,
      nowMs,
      ROBOTS_HOSTS_MAX,
    ),
  ]);
}
