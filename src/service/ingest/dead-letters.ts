/**
 * Batches that the queue gave up: ten attempts over more than an hour, and the log took them at none.
 * Kept in R2, which is there when the log is not, and tried again by the scheduled run until it is; the
 * ids they have make that safe however often. What waits is a gauge of `GET /protect/metrics`.
 */
import { verdictMessage } from '../../contract/edge/verdict-message.ts';
import type { VerdictMessage } from '../../contract/edge/verdict-message.ts';
import { instanceById } from '../../store/d1/instances.ts';
import { appendCounters, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { acceptBatch } from './accept-batch.ts';
import * as core from 'zod/v4/core';
import type { ServiceStore } from '../environment.ts';

export const DEAD_LETTER_QUEUE = 'gatehouse-verdicts-dead';
const PREFIX = 'dead-letters/';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** As long as refused records: time for an operator to mend what is wrong. */
const KEPT_MS = 30 * DAY_MS;
/** Tried again as often as this, in the minute that it begins with. */
const REPLAY_INTERVAL_MS = 5 * MINUTE_MS;
/** Some 300 verdicts each: one run must not eat the sub-requests of all others. */
const LETTERS_PER_RUN_MAX = 50;
/** R2 lists this many at once; more is shown as this many. */
const COUNTED_MAX = 1000;

type LetterEnv = Pick<ServiceStore, 'SEGMENTS'>;

/** Key: `dead-letters/{instance}/{sent at, epoch milliseconds}-{batchId}.json`; a batch that comes twice is one object. */
export async function keepDeadLetter(store: LetterEnv, message: VerdictMessage, sentAt: number): Promise<void> {
  const key = `${PREFIX}${message.instanceId}/${sentAt}-${encodeURIComponent(message.batchId)}.json`;
  await store.SEGMENTS.put(key, JSON.stringify(message), { httpMetadata: { contentType: 'application/json' } });
}

/** How many batches of an instance wait; 1,000 stands for more. */
export async function countDeadLetters(store: LetterEnv, instanceId: string): Promise<number> {
  const { objects } = await store.SEGMENTS.list({ prefix: `${PREFIX}${instanceId}/`, limit: COUNTED_MAX });
  return objects.length;
}

/** Instances with a batch that waits, of all accounts; `null`: too many to tell in one look. */
export async function instancesWithLetters(store: LetterEnv): Promise<ReadonlySet<string> | null> {
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
      console.error(JSON.stringify({ event: 'dead-letter-not-taken', key, message: String(error) }));
    }
  }
}

/** `true`: done with it. */
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
