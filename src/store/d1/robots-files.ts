/**
 * The robots.txt of each origin, as edges last read it. Visitors choose host names where an instance does not list its own,
 * so an instance has a bounded number of them: a new one takes the place of one that nobody has asked for in a day.
 */
import { sql, statement } from '../sql.ts';
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

const HOST_COLUMNS = sql`host, state, read_at AS readAt, seen_at AS seenAt`;

/** The newest first. */
export async function robotsHosts(env: StoreEnv, instanceId: string): Promise<RobotsHost[]> {
  const { results } = await statement(env)`
    SELECT ${HOST_COLUMNS} FROM robots_files
    WHERE instance_id = ${instanceId} ORDER BY seen_at DESC, host`.all<RobotsHost>();
  return results;
}

export async function robotsFile(env: StoreEnv, instanceId: string, host: string): Promise<RobotsFile | null> {
  return statement(env)`
    SELECT ${HOST_COLUMNS}, text FROM robots_files
    WHERE instance_id = ${instanceId} AND host = ${host}`.first<RobotsFile>();
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
  const known = await statement(env)`
    SELECT state, hash, seen_at AS seenAt FROM robots_files
    WHERE instance_id = ${instanceId} AND host = ${host}`.first<{ state: RobotsState; hash: string; seenAt: number }>();
  const isSame = known?.state === state && (!isRead || known.hash === hash);
  if (isSame && nowMs - known.seenAt < SEEN_STEP_MS) return;
  const readAt = isRead ? nowMs : null;
  await env.DB.batch([
    statement(env)`
      DELETE FROM robots_files
      WHERE instance_id = ${instanceId} AND host = (SELECT host FROM robots_files WHERE instance_id = ${instanceId}
        AND seen_at < ${nowMs - FORGOTTEN_AFTER_MS} ORDER BY seen_at LIMIT 1)
      AND ${host} NOT IN (SELECT host FROM robots_files WHERE instance_id = ${instanceId})
      AND (SELECT count(*) FROM robots_files WHERE instance_id = ${instanceId}) >= ${ROBOTS_HOSTS_MAX}`,
    statement(env)`
      INSERT INTO robots_files (instance_id, host, text, hash, state, read_at, seen_at)
        SELECT ${instanceId}, ${host}, ${isRead ? text : ''}, ${isRead ? hash : ''}, ${state},
          ${readAt}, ${nowMs}
        WHERE EXISTS (SELECT 1 FROM protect_instances WHERE id = ${instanceId} AND active = 1)
          AND (SELECT count(*) FROM robots_files WHERE instance_id = ${instanceId}
            AND host <> ${host}) < ${ROBOTS_HOSTS_MAX}
      ON CONFLICT (instance_id, host) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at,
        text = iif(${readAt} IS NULL, text, excluded.text),
        hash = iif(${readAt} IS NULL, hash, excluded.hash),
        read_at = coalesce(${readAt}, read_at)`,
  ]);
}
