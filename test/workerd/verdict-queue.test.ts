/**
 * The queue's consumer and the shard's maintenance: batches that arrive through the queue, and what happens when R2
 * does not accept a segment.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { messagesOf } from '../../src/logsink/sinks/queue.ts';
import { acceptBatch } from '../../src/service/ingest/accept-batch.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { verdictLogOf, countValues, edgeTotals } from '../../src/store/event-log/client/verdict-log.ts';
import { consumeVerdicts } from '../../src/service/ingest/consume-verdicts.ts';
import { DEAD_LETTER_QUEUE, countDeadLetters, replayDeadLetters } from '../../src/service/ingest/dead-letters.ts';
import { instanceById, type StoredInstance } from '../../src/store/d1/instances.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { arrivalNow, sinkBatchOf, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const now = testNow();
let instance: StoredInstance;

beforeAll(async () => {
  const owned = [
    `INSERT OR IGNORE INTO accounts (id, owner_email, tier, features, created_at, updated_at)
      VALUES ('account-queue', 'owner@example.com', 'enterprise', '[]', 0, 0)`,
    `INSERT INTO sites (site_key, account_id, name, secret_hash, secret_sealed, settings, created_at, updated_at)
      VALUES ('queue-1', 'account-queue', 'queue-1', 'queue-1', '', '{}', 0, 0)`,
  ];
  await service.DB.batch([
    ...owned.map((statement) => service.DB.prepare(statement)),
    service.DB.prepare(
      `INSERT INTO protect_instances (id, account_id, name, cname, global_site_key, policy, created_at, updated_at)
       VALUES ('queue-1', 'account-queue', 'queue-1', 'queue-1', 'queue-1', ?, 0, 0)`,
    ).bind(JSON.stringify(instanceSettings.parse({}))),
  ]);
  instance = (await instanceById(service, 'queue-1')) as StoredInstance;
});

/** Messages as the platform delivers them, and how each was settled. */
function delivered(
  bodies: readonly unknown[],
  sentAt = now,
  queue = 'gatehouse-verdicts',
): { batch: MessageBatch; outcomes: string[] } {
  const outcomes: string[] = [];
  const messages = bodies.map((body, index) => ({
    id: `message-${index}`,
    body,
    attempts: 1,
    timestamp: new Date(sentAt),
    ack: () => outcomes.push('ack'),
    retry: () => outcomes.push('retry'),
  }));
  return { batch: { queue, messages } as unknown as MessageBatch, outcomes };
}

function some(owner: string, count: number, seed: number, endsAt = now): ReturnType<typeof variedRecord>[] {
  const random = seededRandom(seed);
  const edge = { colo: 'FRA', version: '0.1.0', isolate: `isolate-${seed}` };
  return Array.from({ length: count }, (_, seq) => ({
    ...variedRecord(owner, endsAt - seq * 100, random, seq),
    edge: { ...edge, seq },
  }));
}

async function ids(owner: string): Promise<string[]> {
  const request = { filter: everything, before: null, offset: 0, limit: 5000, wantTotal: true };
  const page = await readPage(service, { stream: 'verdicts', owner }, request);
  expect(page.total).toBe(page.rows.length);
  return page.rows.map(({ id }) => id);
}

describe('the queue consumer', () => {
  test('appends new records once, and known records not again', async () => {
    const records = some('queue-1', 60, 1);
    const batch = sinkBatchOf('batch-1', records, { verdicts_queued: 60 });
    await acceptBatch(service, instance, { ...batch, records: records.slice(0, 25) }, now);
    const messages = messagesOf({ ...batch, counters: {} });
    const first = delivered([...messages, ...messages]);
    await consumeVerdicts(first.batch, service);
    expect(new Set(first.outcomes)).toEqual(new Set(['ack']));
    expect(await ids('queue-1')).toEqual(records.map(({ id }) => id));
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({ counters: { verdicts_queued: 60 } });
  });

  test('measures the age of a record at the time its message was sent, not when it is read', async () => {
    const days = 86_400_000;
    const [old] = some('queue-1', 1, 2, now - 9 * days);
    const late = delivered(
      [{ batchId: 'batch-2', instanceId: 'queue-1', records: [old], counters: {} }],
      now - 8 * days,
    );
    await consumeVerdicts(late.batch, service);
    expect(await ids('queue-1')).toContain(old?.id);
  });

  test.each([
    ['that is malformed', { surprise: true }],
    ['of a deleted instance', { batchId: 'b', instanceId: 'nobody', records: [], counters: {} }],
  ])('acknowledges a message %s, because no retry would help', async (_, body) => {
    const { batch, outcomes } = delivered([body]);
    await consumeVerdicts(batch, service);
    expect(outcomes).toEqual(['ack']);
  });

  test('retries a message when the log refuses it', async () => {
    const messages = messagesOf(sinkBatchOf('batch-3', some('queue-1', 3, 3)));
    const { batch, outcomes } = delivered(messages);
    const broken = { ...service, VERDICT_SHARD: undefined } as unknown as ServiceEnv;
    await consumeVerdicts(batch, broken);
    expect(outcomes).toEqual(['retry']);
  });
});

describe('a batch that the queue gave up on', () => {
  const turn = Math.ceil(now / 300_000) * 300_000;
  const letters = (): Promise<number> => countDeadLetters(service, instance.id);

  test('waits in R2 and is appended once, as soon as the log accepts it', async () => {
    const records = some('queue-1', 40, 9, now - 3_600_000);
    const [message] = messagesOf(sinkBatchOf('dead-1', records));
    const dead = delivered([message, message], now, DEAD_LETTER_QUEUE);
    await consumeVerdicts(dead.batch, service);
    expect([dead.outcomes, await letters()]).toEqual([['ack', 'ack'], 1]);
    await replayDeadLetters({ ...service, VERDICT_SHARD: undefined } as unknown as ServiceEnv, turn);
    expect(await letters()).toBe(1);
    await replayDeadLetters(service, turn + 120_000);
    expect(await letters()).toBe(1);
    await replayDeadLetters(service, turn);
    expect(await letters()).toBe(0);
    expect(await ids('queue-1')).toEqual(expect.arrayContaining(records.map(({ id }) => id)));
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({
      counters: { verdicts_replayed: 40 },
    });
  });

  test('is deleted after thirty days, or with its instance', async () => {
    const [old] = messagesOf(sinkBatchOf('dead-2', some('queue-1', 2, 10)));
    const [orphan] = messagesOf(sinkBatchOf('dead-3', some('gone', 2, 11)));
    await consumeVerdicts(delivered([old], turn - 31 * 86_400_000, DEAD_LETTER_QUEUE).batch, service);
    await consumeVerdicts(delivered([orphan], now, DEAD_LETTER_QUEUE).batch, service);
    await replayDeadLetters(service, turn);
    expect([await letters(), await countDeadLetters(service, 'gone')]).toEqual([0, 0]);
  });
});

describe('the maintenance of a shard', () => {
  const fill = async (owner: string, count: number, batch = 500): Promise<string[]> => {
    const records = some(owner, count, 4, now - 3_600_000);
    for (let at = 0; at < count; at += batch) {
      const rows = records.slice(at, at + batch).map((record) => verdictRow(record, true));
      await appendRows(service, { stream: 'verdicts', owner }, rows, arrivalNow());
    }
    return records.map(({ id }) => id);
  };
  const stub = (owner: string): DurableObjectStub =>
    service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(`verdicts/${owner}:0:0`));

  test('seals in the alarm once there are enough rows, and reads stay the same', async () => {
    const owner = 'care-seal';
    const object = shard(service, `verdicts/${owner}:0:0`);
    await object.tune({ hotRowsMax: 600, segmentRows: 500 });
    const wanted = await fill(owner, 1500);
    await runDurableObjectAlarm(stub(owner));
    expect(await object.statistics()).toMatchObject({ hotRows: 500, sealedRows: 1000, segments: 2 });
    expect(await ids(owner)).toEqual(wanted);
    await evictDurableObject(stub(owner));
    expect(await ids(owner)).toEqual(wanted);
  });

  test('keeps every row readable while R2 fails, and seals when it works again', async () => {
    const owner = 'care-refused';
    const object = shard(service, `verdicts/${owner}:0:0`);
    await object.tune({ hotRowsMax: 200, segmentRows: 100 });
    const wanted = await fill(owner, 500, 100);
    const bucket = service.SEGMENTS;
    await runInDurableObject(stub(owner), async (instanceOfShard) => {
      const held = instanceOfShard as unknown as { env: ServiceEnv };
      const refusing = { put: () => Promise.reject(new Error('R2 is not there')) } as unknown as R2Bucket;
      held.env = { ...held.env, SEGMENTS: refusing };
    });
    await runDurableObjectAlarm(stub(owner));
    expect(await object.statistics()).toMatchObject({ hotRows: 500, sealedRows: 0 });
    expect(await ids(owner)).toEqual(wanted);
    await runInDurableObject(stub(owner), async (instanceOfShard) => {
      const held = instanceOfShard as unknown as { env: ServiceEnv };
      held.env = { ...held.env, SEGMENTS: bucket };
    });
    expect(await runDurableObjectAlarm(stub(owner))).toBe(true);
    expect(await object.statistics()).toMatchObject({ hotRows: 100, sealedRows: 400 });
    expect(await ids(owner)).toEqual(wanted);
    const window = { from: 0, to: Math.ceil(now / 60_000) + 10, outcomes: null };
    const { values } = await countValues(service, { stream: 'verdicts', owner }, 'none', window, 10);
    expect(values.map(({ counts }) => counts[0] + counts[1] + counts[2])).toEqual([500]);
  });
});
