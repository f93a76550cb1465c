/**
 * Batches that the queue gave up after ten attempts, because the log did not accept them. They are kept in R2, which
 * works when the log does not, and the scheduled run tries them again. Records keep their ids, so trying again is safe.
 * `GET /protect/metrics` shows how many batches wait.
 */
import * as core from 'zod/v4/core';
import { type VerdictMessage, verdictMessage } from '../../contract/edge/verdict-batch.ts';
import { instanceById } from '../../store/d1/instances.ts';
import { appendCounters, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import type { ServiceStore } from '../environment.ts';
import { acceptBatch } from './accept-batch.ts';

export const DEAD_LETTER_QUEUE = 'gatehouse-verdicts-dead';
const PREFIX = 'dead-letters/';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** As long as refused records: enough time for an operator to fix the cause. */
const KEPT_MS = 30 * DAY_MS;
/** The run of the first minute of each interval tries the batches again. */
const REPLAY_INTERVAL_MS = 5 * MINUTE_MS;
/** About 300 verdicts each. One task must not use up the subrequests of the whole run. */
const LETTERS_PER_RUN_MAX = 50;
/** R2 lists this many objects in one call. A higher number is shown as this one. */
const COUNTED_MAX = 1000;

type LetterStore = Pick<ServiceStore, 'SEGMENTS'>;

/**
 * Key: `dead-letters/{instance}/{sent at, epoch milliseconds}-{batchId}.json`, so a batch that arrives twice is one
 * object.
 */
export async function keepDeadLetter(store: LetterStore, message: VerdictMessage, sentAt: number): Promise<void> {
  const key = `${PREFIX}${message.instanceId}/${sentAt}-${encodeURIComponent(message.batchId)}.json`;
  await store.SEGMENTS.put(key, JSON.stringify(message), { httpMetadata: { contentType: 'application/json' } });
}

/** How many batches of an instance wait. 1,000 may mean more. */
export async function countDeadLetters(store: LetterStore, instanceId: string): Promise<number> {
  const { objects } = await store.SEGMENTS.list({ prefix: `${PREFIX}${instanceId}/`, limit: COUNTED_MAX });
  return objects.length;
}

/** Instances of all accounts that have a waiting batch; `null`: too many for one call. */
export async function instancesWithLetters(store: LetterStore): Promise<ReadonlySet<string> | null> {
  const { delimitedPrefixes, truncated } = await store.SEGMENTS.list({ prefix: PREFIX, delimiter: '/' });
  return truncated ? null : new Set(delimitedPrefixes.map((prefix) => prefix.slice(PREFIX.length, -1)));
}

export async function replayDeadLetters(store: ServiceStore, nowMs: number): Promise<void> {
  if (nowMs % REPLAY_INTERVAL_MS >= MINUTE_MS) return;
  const { objects } = await store.SEGMENTS.list({ prefix: PREFIX, limit: LETTERS_PER_RUN_MAX });
  for (const { key } of objects) {
    try {
      if (await replay(store, key, nowMs)) await store.SEGMENTS.delete(key);
    } catch (error) {
      console.error(JSON.stringify({ event: 'dead-letter-replay-failed', key, message: String(error) }));
    }
  }
}

/** `true`: the batch can be deleted. */
async function replay(store: ServiceStore, key: string, nowMs: number): Promise<boolean> {
  const sentAt = Number(/\/(\d+)-[^/]*$/.exec(key)?.[1] ?? 0);
  if (sentAt < nowMs - KEPT_MS) {
    console.error(JSON.stringify({ event: 'dead-letter-expired', key }));
    return true;
  }
  const object = await store.SEGMENTS.get(key);
  if (!object) return false;
  const message = core.parse(verdictMessage, await object.json());
  const instance = await instanceById(store, message.instanceId);
  if (!instance?.active) return true;
  const { accepted } = await acceptBatch(store, instance, message, sentAt);
  const counters = { verdicts_replayed: accepted };
  await appendCounters(store, verdictLogOf(instance), `${message.batchId}/replayed`, counters);
  return true;
}
