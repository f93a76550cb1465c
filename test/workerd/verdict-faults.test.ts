/**
 * Exactly-once storage under faults: edge batcher, service, queue, shard and R2, with random failures between each two
 * of them. At the end of each seed, rows = records sent − losses counted by isolate and number, and the rollups agree
 * with the rows. Only what a stopped isolate had numbered after its last batch that arrived was fixed is not counted.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { ServiceClock } from '../../src/logsink/service-clock.ts';
import { queueSink } from '../../src/logsink/sinks/queue.ts';
import { serviceSink } from '../../src/logsink/sinks/service.ts';
import { VerdictBatcher } from '../../src/logsink/verdict-batcher.ts';
import { acceptBatch, type IncomingBatch } from '../../src/service/ingest/accept-batch.ts';
import { verdictLogOf, countValues, edgeTotals } from '../../src/store/event-log/client/verdict-log.ts';
import { consumeVerdicts } from '../../src/service/ingest/consume-verdicts.ts';
import { instanceById, type StoredInstance } from '../../src/store/d1/instances.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { stopSealing } from './stopped-sealing.ts';
import { seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const SEEDS = 100;
const ROUNDS = 5;
const ISOLATES = 2;
const BATCH_RECORDS = 7;
const service = env as ServiceEnv;
const now = testNow();

/** The queue's consumer looks up its instance in D1. */
async function newInstance(seed: number): Promise<StoredInstance> {
  const id = `fault-${seed}`;
  await service.DB.batch([
    service.DB.prepare(
      `INSERT OR IGNORE INTO accounts (id, owner_email, tier, features, created_at, updated_at)
       VALUES ('account-faults', 'owner@example.com', 'enterprise', '[]', 0, 0)`,
    ),
    service.DB.prepare(
      `INSERT INTO sites (site_key, account_id, name, secret_hash, secret_sealed, settings, created_at, updated_at)
       VALUES (?1, 'account-faults', ?1, ?1, '', '{}', 0, 0)`,
    ).bind(id),
    service.DB.prepare(
      `INSERT INTO protect_instances (id, account_id, name, cname, global_site_key, policy, created_at, updated_at)
       VALUES (?1, 'account-faults', ?1, ?1, ?1, ?2, 0, 0)`,
    ).bind(id, JSON.stringify(instanceSettings.parse({}))),
  ]);
  return (await instanceById(service, id)) as StoredInstance;
}

/** How often each kind of fault happened, over all seeds: without faults the test would prove nothing. */
const struck = new Map<string, number>();

/** Everything between the edge and the shard, with faults from a seeded generator. */
class FaultyWorld {
  readonly random: () => number;
  readonly instance: StoredInstance;
  /** Copies that the network still holds and will deliver later. */
  readonly #late: IncomingBatch[] = [];
  readonly #queued: unknown[] = [];
  /** Of each isolate the last batch that was sent. */
  readonly #sent = new Map<string, IncomingBatch>();
  /** Of each isolate how many records the batches that arrived say it had numbered. */
  readonly announced = new Map<string, number>();
  calm = false;

  constructor(seed: number, instance: StoredInstance) {
    this.random = seededRandom(seed);
    this.instance = instance;
  }

  chance(probability: number): boolean {
    return !this.calm && this.random() < probability;
  }

  strikes(fault: string, probability: number): boolean {
    const strikes = this.chance(probability);
    if (strikes) struck.set(fault, (struck.get(fault) ?? 0) + 1);
    return strikes;
  }

  /** The service, as the edge's sink calls it. */
  readonly fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    const batch = JSON.parse(init.body as string) as IncomingBatch;
    if (this.strikes('refused', 0.15)) throw new Error('connection refused');
    if (this.strikes('busy', 0.1)) return new Response('busy', { status: 503 });
    if (this.strikes('late delivery', 0.1)) {
      this.#late.push(batch);
      throw new Error('timed out, and the request is still under way');
    }
    if (this.strikes('overlapping batch', 0.15)) await this.#overlap(batch);
    const answer = await this.#accept(batch);
    if (this.strikes('time-out after commit', 0.15)) throw new Error('timed out after the commit');
    if (this.strikes('duplicate delivery', 0.1)) await this.#accept(batch);
    return Response.json(answer);
  };

  #accept(batch: IncomingBatch) {
    const { isolate = '', lastSeq = 0, held = 0 } = batch;
    this.#sent.set(isolate, batch);
    this.announced.set(isolate, Math.max(this.announced.get(isolate) ?? 0, lastSeq + 1 + held));
    return acceptBatch(service, this.instance, batch, now);
  }

  /** A sender that cuts its batches elsewhere: the end of the batch before, and the beginning of this one. */
  async #overlap(batch: IncomingBatch): Promise<void> {
    const before = this.#sent.get(batch.isolate ?? '');
    if (before === undefined) return;
    const records = [...before.records.slice(-3), ...batch.records.slice(0, 3)] as VerdictRecord[];
    const seqs = records.map(({ edge }) => edge.seq);
    const range = { firstSeq: Math.min(...seqs), lastSeq: Math.max(...seqs), held: 0 };
    await acceptBatch(
      service,
      this.instance,
      { ...batch, ...range, batchId: `${batch.batchId}+`, records, counters: {} },
      now,
    );
  }

  readonly queue = {
    send: async (body: unknown): Promise<void> => {
      if (this.strikes('queue unavailable', 0.35)) throw new Error('queue unavailable');
      this.#queued.push(structuredClone(body));
      if (this.strikes('queue answer lost', 0.35)) throw new Error('accepted, but the answer was lost');
    },
  };

  async deliverLate(): Promise<void> {
    const due = this.#late.filter(() => this.calm || this.random() < 0.5);
    // The last one that was sent arrives first.
    for (const batch of due.toReversed()) {
      this.#late.splice(this.#late.indexOf(batch), 1);
      await this.#accept(batch);
    }
  }

  /**
   * The queue delivers at least once: a message that is not acknowledged, or whose acknowledgement is lost, arrives
   * again.
   */
  async consume(): Promise<void> {
    const bodies = this.#queued.splice(0);
    const retried: unknown[] = [];
    for (const { isolate = '', lastSeq = 0, held = 0 } of bodies as IncomingBatch[]) {
      this.announced.set(isolate, Math.max(this.announced.get(isolate) ?? 0, lastSeq + 1 + held));
    }
    const messages = bodies.map((body, index) => ({
      id: `message-${index}`,
      body,
      attempts: 1,
      timestamp: new Date(now),
      ack: () => undefined,
      retry: () => retried.push(body),
    }));
    await consumeVerdicts({ queue: 'gatehouse-verdicts', messages } as unknown as MessageBatch, service);
    this.#queued.push(...retried, ...bodies.filter(() => this.strikes('message redelivered', 0.4)));
  }

  async restartShard(): Promise<void> {
    await evictDurableObject(this.#stub()).catch((error: unknown) => {
      // With hundreds of objects the runtime has evicted some by itself, which is a restart too.
      if (!String(error).includes('not currently running')) throw error;
    });
  }

  /** The object stops after its segment is in R2 and before its manifest is written. */
  async dieWhileSealing(): Promise<void> {
    await runInDurableObject(this.#stub(), async (_object, state) => {
      const name = `verdicts/${this.instance.id}:0:0`;
      await stopSealing(state.storage, service.SEGMENTS, name, { segmentRows: 10, nowMs: now + 60_000 });
    });
    await this.restartShard();
  }

  async seal(): Promise<void> {
    const object = shard(service, `verdicts/${this.instance.id}:0:0`);
    await object.tune({ hotRowsMax: 1_000_000, segmentRows: 5 + Math.floor(this.random() * 30) });
    await object.seal();
  }

  #stub(): DurableObjectStub {
    const id = service.VERDICT_SHARD.idFromName(`verdicts/${this.instance.id}:0:0`);
    return service.VERDICT_SHARD.get(id);
  }
}

/** One isolate of the edge, with the real batcher and the real sinks. */
class Isolate {
  readonly #world: FaultyWorld;
  readonly #batcher: VerdictBatcher;
  readonly #id: string;
  readonly sent: VerdictRecord[] = [];
  #work: Promise<unknown>[] = [];
  stopped = false;

  constructor(world: FaultyWorld, id: string) {
    this.#world = world;
    this.#id = id;
    this.#batcher = new VerdictBatcher({
      sinks: [
        serviceSink({
          serviceUrl: 'https://service.test',
          clientJwt: 'jwt',
          fetch: world.fetch,
          clock: new ServiceClock(),
        }),
      ],
      fallback: queueSink(world.queue),
      isolateId: id,
      bounds: { batchMaxEntries: BATCH_RECORDS, windowMs: 0 },
      // What a stopped isolate waits for never comes.
      clock: { nowMs: () => now, sleep: async () => (this.stopped ? Promise.reject(new Error('stopped')) : undefined) },
    });
  }

  serve(requests: number): void {
    for (let request = 0; request < requests; request++) {
      const seq = this.#batcher.nextSeq();
      // Rows of several minutes, all old enough to be sealed.
      const timestamp = now - 600_000 + Math.floor(this.#world.random() * 300_000);
      const record = variedRecord(this.#world.instance.id, timestamp, this.#world.random, seq);
      record.edge.isolate = this.#id;
      this.sent.push(record);
      // When the process of a request is killed, its record is lost.
      if (!this.#world.strikes('isolate killed', 0.03))
        this.#batcher.add(record, (promise) => this.#work.push(promise));
    }
  }

  async settle(): Promise<void> {
    const work = this.#work;
    this.#work = [];
    await Promise.allSettled(work);
  }

  get id(): string {
    return this.#id;
  }
}

async function everyRow(instance: StoredInstance): Promise<VerdictRecord[]> {
  const request = { filter: everything, before: null, offset: 0, limit: 10_000, wantTotal: true };
  const page = await readPage(service, verdictLogOf(instance), request);
  expect([page.total, page.totalIsExact]).toEqual([page.rows.length, true]);
  return page.rows.map(({ body }) => JSON.parse(body) as VerdictRecord);
}

async function oneSeed(seed: number): Promise<void> {
  const instance = await newInstance(seed);
  const world = new FaultyWorld(seed, instance);
  const isolates = Array.from({ length: ISOLATES }, (_, index) => new Isolate(world, `isolate-${index}`));
  const gone: Isolate[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const isolate of isolates) {
      isolate.stopped = world.strikes('isolate stopped', 0.15);
      isolate.serve(3 + Math.floor(world.random() * 12));
    }
    await Promise.all(isolates.map((isolate) => isolate.settle()));
    for (const [index, isolate] of isolates.entries()) {
      if (!isolate.stopped) continue;
      gone.push(isolate);
      isolates[index] = new Isolate(world, `isolate-${index}-after-${round}`);
    }
    if (world.chance(0.5)) await world.deliverLate();
    if (world.chance(0.5)) await world.consume();
    if (world.strikes('shard restarted', 0.3)) await world.restartShard();
    if (world.strikes('sealed', 0.3)) await world.seal();
    if (world.strikes('died before the manifest', 0.2)) await world.dieWhileSealing();
  }
  // The faults are over: one last record of each isolate shows how far it had numbered.
  world.calm = true;
  for (const isolate of isolates) isolate.serve(1);
  await Promise.all(isolates.map((isolate) => isolate.settle()));
  await world.deliverLate();
  await world.consume();

  const sent = new Map([...isolates, ...gone].flatMap((isolate) => isolate.sent).map((record) => [record.id, record]));
  const unannounced = gone.flatMap((isolate) =>
    isolate.sent.filter(({ edge }) => edge.seq >= (world.announced.get(isolate.id) ?? 0)),
  );
  const rows = await everyRow(instance);
  const { missing, counters } = await edgeTotals(service, verdictLogOf(instance), now + 61_000);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(rows.length).toBe(sent.size - missing - unannounced.length);
  for (const row of rows) expect(row).toEqual(sent.get(row.id));
  await world.seal();
  expect((await everyRow(instance)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  const window = { from: 0, to: Math.ceil(now / 60_000) + 10, outcomes: null };
  const { values } = await countValues(service, verdictLogOf(instance), 'source', window, 100);
  const bySource = new Map<string, number>();
  for (const { source } of rows) bySource.set(source, (bySource.get(source) ?? 0) + 1);
  expect(new Map(values.map(({ value, counts }) => [value, counts[0] + counts[1] + counts[2]]))).toEqual(bySource);
  for (const [source, count] of bySource) expect(counters[`request_sources{source="${source}"}`]).toBe(count);
}

test.each(Array.from({ length: SEEDS / 10 }, (_, index) => index * 10 + 1))(
  'ten histories from seed %i count every lost record, and no record twice',
  async (first) => {
    for (let seed = first; seed < first + 10; seed++) {
      await oneSeed(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
    }
  },
);

test('every kind of fault happened many times', () => {
  expect(struck.size).toBe(14);
  for (const times of struck.values()) expect(times).toBeGreaterThan(20);
});
