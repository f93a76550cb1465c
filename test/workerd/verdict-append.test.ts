/** Appending to the verdict log: every record is stored once, and only invalid records are refused. */
import { attackStateOf } from '../../src/attack/attack-state.ts';
import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { acceptBatch } from '../../src/service/ingest/accept-batch.ts';
import { verdictLogOf, countValues, edgeTotals } from '../../src/store/event-log/client/verdict-log.ts';
import { exportStream, ndjsonFormat } from '../../src/service/operations/protect/verdicts/export-verdicts.ts';
import { dropOldRefused } from '../../src/service/ingest/refused-records.ts';
import { seriesWindow } from '../../src/service/operations/protect/verdicts/verdict-log-query.ts';
import { readVerdictCursor, verdictCursor } from '../../src/service/operations/pages.ts';
import type { StoredInstance } from '../../src/store/d1/instances.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { type VerdictPage, type PageStart, readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { compareNewestFirst } from '../../src/store/event-log/log-row.ts';
import type { PlanRequest, ShardRpc } from '../../src/store/event-log/shard-rpc.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { seededRandom, variedRecord, verdictRecordOf } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const now = testNow();
let instances = 0;

function newInstance(policy: Record<string, unknown> = {}): StoredInstance {
  instances += 1;
  return {
    ...instanceSettings.parse(policy),
    id: `append-${instances}`,
    accountId: 'account-1',
    name: 'shop',
    cname: 'shop.example',
    globalSiteKey: 'site-1',
    active: true,
    clientJwtsRevokedBefore: null,
    version: 1,
    policyVersion: 0,
    createdAt: now,
    updatedAt: now,
    attack: attackStateOf(null),
  };
}

function some(instance: StoredInstance, count: number): VerdictRecord[] {
  const random = seededRandom(count);
  return Array.from({ length: count }, (_, seq) => variedRecord(instance.id, now - seq * 250, random, seq));
}

let batches = 0;
function send(instance: StoredInstance, records: readonly unknown[], counters: Record<string, number> = {}) {
  batches += 1;
  return acceptBatch(service, instance, { batchId: `batch-${batches}`, records, counters }, now);
}

async function stored(instance: StoredInstance): Promise<{ ids: string[]; total: number; counted: number }> {
  const log = verdictLogOf(instance);
  const page = await readPage(service, log, {
    filter: everything,
    before: null,
    offset: 0,
    limit: 5000,
    wantTotal: true,
  });
  const window = { from: 0, to: Math.ceil(now / 60_000) + 10, outcomes: null };
  const { values } = await countValues(service, log, 'none', window, 10);
  const counts = values[0]?.counts ?? [0, 0, 0];
  return { ids: page.rows.map(({ id }) => id), total: page.total, counted: counts[0] + counts[1] + counts[2] };
}

describe('a batch', () => {
  test('that is sent twice is stored once and counted once', async () => {
    const instance = newInstance();
    const records = some(instance, 200);
    expect(await send(instance, records)).toEqual({ accepted: 200, duplicates: 0, rejected: [] });
    expect(await send(instance, records)).toEqual({ accepted: 0, duplicates: 200, rejected: [] });
    const { ids, total, counted } = await stored(instance);
    expect(ids).toEqual(records.map(({ id }) => id));
    expect([new Set(ids).size, total, counted]).toEqual([200, 200, 200]);
  });

  test('with the same record twice stores it once', async () => {
    const instance = newInstance();
    const [record] = some(instance, 1);
    expect(await send(instance, [record, record])).toMatchObject({ accepted: 1, duplicates: 1 });
  });

  test('that is sent twice in parallel is stored once', async () => {
    const instance = newInstance();
    const records = some(instance, 100);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(instance, records)));
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(100);
    expect((await stored(instance)).counted).toBe(100);
  });

  test('that is repeated after a restart of the shard is recognised', async () => {
    const instance = newInstance();
    const records = some(instance, 50);
    await send(instance, records);
    const id = service.VERDICT_SHARD.idFromName(`verdicts/${instance.id}:0:0`);
    await evictDurableObject(service.VERDICT_SHARD.get(id));
    expect(await send(instance, records)).toMatchObject({ accepted: 0, duplicates: 50 });
    expect(await stored(instance)).toMatchObject({ total: 50, counted: 50 });
  });

  test('counts its requests once for the metrics, across a restart, a seal and an erasure', async () => {
    const instance = newInstance();
    const records = some(instance, 50);
    const log = shard(service, `verdicts/${instance.id}:0:0`);
    const isCounted = async (): Promise<void> => {
      const { counters } = await edgeTotals(service, verdictLogOf(instance), now);
      const sum = (metric: string): number =>
        Object.entries(counters).reduce((all, [name, value]) => all + (name.startsWith(`${metric}{`) ? value : 0), 0);
      expect([sum('requests'), sum('request_sources')]).toEqual([50, 50]);
      expect(counters['requests{decision="block"}']).toBe(
        records.filter(({ decision }) => decision === 'block').length,
      );
    };
    await send(instance, records.slice(0, 30));
    await send(instance, records);
    await isCounted();
    await evictDurableObject(
      service.VERDICT_SHARD.get(service.VERDICT_SHARD.idFromName(`verdicts/${instance.id}:0:0`)),
    );
    await isCounted();
    await log.seal();
    await send(instance, records);
    await isCounted();
    await log.erase(records.find(({ jti }) => jti !== null)?.jti ?? '');
    await isCounted();
  });

  test('counts its requests over all shards', async () => {
    const instance = newInstance();
    const sharded = { ...service, VERDICT_SHARDS: '4' };
    const records = some(instance, 60);
    for (const batchId of ['one', 'two']) await acceptBatch(sharded, instance, { batchId, records, counters: {} }, now);
    const { counters, missing } = await edgeTotals(sharded, verdictLogOf(instance), now);
    const allowed = records.filter(({ decision }) => decision === 'allow').length;
    expect([counters['requests{decision="allow"}'], missing]).toEqual([allowed, 0]);
  });

  test('with too many counter names keeps as many as a log may have', async () => {
    const instance = newInstance();
    const names = Array.from({ length: 3000 }, (_, at) => [`name_${at}`, 1] as const);
    const [first, second] = some(instance, 2);
    await send(instance, [first], Object.fromEntries(names));
    const { counters } = await edgeTotals(service, verdictLogOf(instance), now);
    expect(Object.keys(counters).filter((name) => name.startsWith('name_'))).toHaveLength(2000);
    // A known name is still counted.
    await send(instance, [second], { name_7: 1, one_more: 1 });
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({ counters: { name_7: 2 } });
  });

  test('adds its counters once, however often it is sent', async () => {
    const instance = newInstance();
    const batch = { batchId: 'same', records: some(instance, 1), counters: { verdicts_queued: 3 } };
    await acceptBatch(service, instance, batch, now);
    await acceptBatch(service, instance, batch, now);
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({ counters: { verdicts_queued: 3 } });
  });
});

describe('a record', () => {
  test('with a known id and another body counts as a duplicate, and the first record stays', async () => {
    const instance = newInstance();
    const first = verdictRecordOf(instance.id, { timestamp: now, request_path: '/first' });
    await send(instance, [first]);
    expect(await send(instance, [{ ...first, request_path: '/second' }])).toMatchObject({ accepted: 0, duplicates: 1 });
    const page = await readPage(service, verdictLogOf(instance), {
      filter: everything,
      before: null,
      offset: 0,
      limit: 10,
      wantTotal: true,
    });
    expect(page.rows.map(({ body }) => (JSON.parse(body) as VerdictRecord).request_path)).toEqual(['/first']);
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({
      counters: { verdicts_conflicting: 1 },
    });
  });

  test.each([
    ['another body', {}],
    ['another, unsealed time', { timestamp: now - 20_000 }],
    ['another time before every sealed row', { timestamp: now - 90_000_000 }],
  ])('with a sealed id and %s counts as a duplicate', async (_, change) => {
    const instance = newInstance();
    const records = some(instance, 8).map((record) => ({ ...record, jti: null, timestamp: record.timestamp - 60_000 }));
    await send(instance, records);
    await shard(service, `verdicts/${instance.id}:0:0`).seal();
    const [first] = records as [VerdictRecord];
    expect(await send(instance, [{ ...first, ...change, status: 599 }])).toMatchObject({ accepted: 0, duplicates: 1 });
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({
      counters: { verdicts_conflicting: 1 },
    });
    expect(await stored(instance)).toMatchObject({ total: 8, counted: 8 });
  });

  test('whose id is written in capitals is the same record, and cursors find it', async () => {
    const instance = newInstance();
    const records = some(instance, 6).map((record) => ({ ...record, timestamp: record.timestamp - 60_000 }));
    await send(
      instance,
      records.map((record) => ({ ...record, id: record.id.toUpperCase() })),
    );
    expect(await send(instance, records)).toMatchObject({ accepted: 0, duplicates: 6 });
    await shard(service, `verdicts/${instance.id}:0:0`).seal();
    expect(await send(instance, records)).toMatchObject({ accepted: 0, duplicates: 6 });
    const found: string[] = [];
    let before: PageStart | null = null;
    do {
      const request = { filter: everything, before, offset: 0, limit: 2, wantTotal: false };
      const page: VerdictPage = await readPage(service, verdictLogOf(instance), request);
      found.push(...page.rows.map(({ body }) => (JSON.parse(body) as VerdictRecord).id));
      before = page.next && readVerdictCursor(verdictCursor(page.next));
    } while (before !== null);
    expect(found).toEqual(records.toSorted(compareNewestFirst).map(({ id }) => id));
  });

  test('that is invalid is refused with its index and a reason, and the other records are stored', async () => {
    const instance = newInstance();
    const good = verdictRecordOf(instance.id, { timestamp: now });
    const answer = await send(instance, [
      good,
      null,
      { ...good, v: 2 },
      { ...good, decision: 'maybe' },
      { ...good, surprise: true },
      verdictRecordOf('another-instance', { timestamp: now }),
      verdictRecordOf(instance.id, { timestamp: now + 600_000 }),
      verdictRecordOf(instance.id, { timestamp: now - 8 * 86_400_000 }),
    ]);
    expect(answer).toEqual({
      accepted: 1,
      duplicates: 0,
      rejected: [
        { index: 1, reason: 'invalid-record' },
        { index: 2, reason: 'unknown-version' },
        { index: 3, reason: 'invalid-record' },
        { index: 4, reason: 'invalid-record' },
        { index: 5, reason: 'foreign-instance' },
        { index: 6, reason: 'timestamp-in-future' },
        { index: 7, reason: 'timestamp-too-old' },
      ],
    });
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toMatchObject({
      counters: { 'verdicts_rejected{reason="invalid-record"}': 3, 'verdicts_rejected{reason="foreign-instance"}': 1 },
    });
  });

  test('that was numbered and never arrived counts as missing until it arrives', async () => {
    const instance = newInstance();
    const records = some(instance, 10);
    await send(instance, [...records.slice(0, 3), ...records.slice(5)]);
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toHaveProperty('missing', 2);
    await send(instance, records.slice(3, 4));
    expect(await edgeTotals(service, verdictLogOf(instance), now)).toHaveProperty('missing', 1);
  });
});

test('refused records are kept unchanged for thirty days, once per batch', async () => {
  const instance = newInstance();
  const ahead = { ...verdictRecordOf(instance.id, { timestamp: now }), v: 2, surprise: 'from a newer edge' };
  const batch = { batchId: 'refused-1', records: [ahead], counters: {} };
  await acceptBatch(service, instance, batch, now);
  await acceptBatch(service, instance, batch, now);
  const day = new Date(now).toISOString().slice(0, 10);
  const key = `refused/${day}/${instance.id}/refused-1.ndjson`;
  const lines = (await (await service.SEGMENTS.get(key))?.text())?.trimEnd().split('\n');
  expect(lines?.map((line) => JSON.parse(line) as unknown)).toEqual([{ reason: 'unknown-version', record: ahead }]);
  await dropOldRefused(service, now + 29 * 86_400_000);
  expect(await service.SEGMENTS.head(key)).not.toBeNull();
  await dropOldRefused(service, now + 31 * 86_400_000);
  expect(await service.SEGMENTS.head(key)).toBeNull();
});

describe('an instance that only counts allow verdicts', () => {
  test('counts them, lists the others, and recognises duplicates', async () => {
    const instance = newInstance({ allowVerdicts: 'counts' });
    const records = some(instance, 90);
    const shown = records.filter(({ decision }) => decision !== 'allow');
    await send(instance, records);
    expect(await send(instance, records)).toMatchObject({ accepted: 0, duplicates: 90 });
    const { ids, total, counted } = await stored(instance);
    expect([ids.length, total, counted]).toEqual([shown.length, shown.length, 90]);
  });
});

test('an export reads a thousand rows per call to a shard, whatever its page size, and contains every row once', async () => {
  const instance = newInstance();
  const records = some(instance, 450).map((record) => ({ ...record, timestamp: record.timestamp - 60_000 }));
  await send(instance, records.slice(0, 400));
  await shard(service, `verdicts/${instance.id}:0:0`).seal();
  await send(instance, records.slice(400));
  const limits: number[] = [];
  const namespace = {
    idFromName: (name: string) => service.VERDICT_SHARD.idFromName(name),
    get(id: DurableObjectId) {
      const stub = service.VERDICT_SHARD.get(id) as unknown as ShardRpc;
      return {
        plan(request: PlanRequest) {
          limits.push(request.limit);
          return stub.plan(request);
        },
      };
    },
  };
  const world = { ...service, VERDICT_SHARD: namespace as unknown as DurableObjectNamespace } as ServiceEnv;
  const target = { log: verdictLogOf(instance), instance, horizon: 0 };
  for (const pageRows of [7, 200, 5000]) {
    const text = await new Response(exportStream(world, target, everything, { ...ndjsonFormat(), pageRows })).text();
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as VerdictRecord).id)).toEqual(
      records.toSorted(compareNewestFirst).map(({ id }) => id),
    );
  }
  expect(Math.max(...limits)).toBeLessThanOrEqual(1001);
});

test('a first bucket that starts before the retention horizon counts only kept rows', () => {
  const day = 86_400;
  const horizon = Date.UTC(2026, 10, 20, 15);
  const window = seriesWindow({ since: 0, bucket: day }, horizon, Date.UTC(2026, 10, 21, 9, 30));
  expect(window).toMatchObject({ since: Date.UTC(2026, 10, 20), until: Date.UTC(2026, 10, 22) });
  expect([window.from, window.to]).toEqual([horizon / 60_000, Date.UTC(2026, 10, 22) / 60_000]);
});
