/**
 * `POST /edge/v1/robots` `{host, state, text}` → `{text}`: an edge sends the robots.txt of its origin and gets it merged
 * with the bot policy of its instance. The edge itself would carry the code and the names of some hundred bots for one
 * path. The origin's file is kept: an edge that cannot read it gets the last good one merged, which another edge read.
 */
import * as z from 'zod/mini';
import { sha256Hex } from '../../bytes/hex.ts';
import { ROBOTS_MAX_BYTES } from '../../contract/edge/edge-responses.ts';
import { robotsStates } from '../../contract/vocabulary.ts';
import { keepRobotsFile, type ReadRobotsFile, robotsFile } from '../../store/d1/robots-files.ts';
import { servedRobots } from '../bots/served-robots.ts';
import type { ServiceStore } from '../environment.ts';
import { jsonRoute } from './edge-route.ts';

/** JSON writes a control character in six bytes. */
const BODY_MAX_BYTES = 6 * ROBOTS_MAX_BYTES + 1024;
const robotsRequest = z.strictObject({
  /** As the crawler named it. */
  host: z.string().check(z.maxLength(261), z.toLowerCase(), z.regex(/^[a-z0-9._:[\]-]+$/)),
  /** What the edge found. With `error`, `text` is the last that it read itself. */
  state: z.enum(robotsStates),
  text: z.string().check(z.maxLength(ROBOTS_MAX_BYTES)),
});

export const mergeRobotsFile = jsonRoute({
  path: '/edge/v1/robots',
  body: robotsRequest,
  maxBytes: BODY_MAX_BYTES,
  async answer({ store, instance, nowMs, waitUntil }, body) {
    const { host, state } = body;
    const kept = state === 'error' ? await robotsFile(store, instance.id, host) : null;
    const text = kept !== null && kept.readAt !== null ? kept.text : body.text;
    waitUntil(keep(store, instance.id, { host, state, text }, nowMs));
    return { text: await servedRobots(store, instance, text) };
  },
});

/** After the response. The next edge that asks tries again. */
async function keep(
  store: ServiceStore,
  instanceId: string,
  file: Omit<ReadRobotsFile, 'hash'>,
  nowMs: number,
): Promise<void> {
  try {
    await keepRobotsFile(store, instanceId, { ...file, hash: await sha256Hex(file.text) }, nowMs);
  } catch (error) {
    console.error(JSON.stringify({ level: 'error', event: 'robots-not-kept', message: String(error) }));
  }
}
