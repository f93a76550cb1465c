/**
 * A batch is the unit of the log: isolate and number are the identity of a record, whatever order and how often batches
 * arrive, and the announced tail of an isolate that was stopped is counted as missing.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { edgeTotals, eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { type LogName, shard } from '../../src/store/event-log/client/shards.ts';
import { compareNewestFirst, verdictRow } from '../../src/store/event-log/log-row.ts';
import { PackedLines } from '../../src/store/event-log/packed-lines.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { Sealer } from '../../src/store/event-log/shard/sealing.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { seededRandom, variedRecord, verdictRecordOf } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const service = env as ServiceEnv;
const now = testNow();
let logs = 0;

function newLog(): { log: LogName; name: string; records: VerdictRecord[] } {
  logs += 1;
  const owner = `batches-${logs}`;
  const random = seededRandom(logs);
  const records = Array.from({ length: 60 }, (_, seq) => variedRecord(owner, now - 600_000 + seq, random, seq));
  return { log: { stream: 'verdicts', owner }, name: `verdicts/${owner}:0:0`, records };
}

function send(log: LogName, records: readonly VerdictRecord[], held = 0, nowMs = now) {
  const seqs = records.map(({ edge }) => edge.seq);
  const range = { isolate: 'isolate-1', firstSeq: Math.min(...seqs), lastSeq: Math.max(...seqs), held };
  const rows = records.map((record) => verdictRow(record, true));
  return appendRows(service, log, rows, { retentionDays: 30, nowMs, range });
}

async function stored(log: LogName): Promise<string[]> {
  const request = { filter: everything, before: null, offset: 0, limit: 1000, wantTotal: true };
  const { rows, total } = await readPage(service, log, request);
  expect(total).toBe(rows.length);
  return rows.map(({ body }) => body);
}

const bodies = (records: readonly VerdictRecord[]): string[] =>
  records.toSorted(compareNewestFirst).map((record) => JSON.stringify(record));

async function batchesOf(name: string): Promise<number> {
  return runInDurableObject(service.VERDICT_SHARD.getByName(name), (_, { storage }) =>
    Number(storage.sql.exec('SELECT COUNT(*) AS n FROM batches').one()['n']),
  );
}

describe('a batch', () => {
  test('that a shard with too many unsealed rows refuses is taken once some are sealed', async () => {
    const { log, name, records } = newLog();
    await shard(service, name).tune({ hotRowsMax: 5, segmentRows: 20 });
    await send(log, records.slice(0, 40));
    await expect(send(log, records.slice(40))).rejects.toThrow('holds 40 unsealed rows');
    expect(await stored(log)).toHaveLength(40);
    await shard(service, name).seal();
    await send(log, records.slice(40));
    expect(await stored(log)).toEqual(bodies(records));
  });

  test('that overlaps others adds what is new, wherever they are', () =>
    expectRows(['unsealed', 'restarted', 'sealed', 'sealed and restarted'], async (state) => {
      const { log, name, records } = newLog();
      await send(log, records.slice(10, 20));
      await send(log, records.slice(30, 40));
      if (state.startsWith('sealed')) await shard(service, name).seal();
      if (state.includes('restarted')) await evictDurableObject(service.VERDICT_SHARD.getByName(name));
      expect(await send(log, records.slice(15, 35))).toEqual({ accepted: 10, duplicates: 10, conflicting: 0 });
      expect(await send(log, records.toReversed())).toEqual({ accepted: 30, duplicates: 30, conflicting: 0 });
      expect(await send(log, records)).toEqual({ accepted: 0, duplicates: 60, conflicting: 0 });
      expect(await stored(log)).toEqual(bodies(records));
    }));

  test('is one row, and one call, however its records are spread', async () => {
    const { log, name, records } = newLog();
    const spread = records.map((record, at) => ({ ...record, jti: `session-${at}` }));
    let calls = 0;
    const namespace = {
      idFromName: (of: string) => service.VERDICT_SHARD.idFromName(of),
      get(id: DurableObjectId) {
        calls += 1;
        return service.VERDICT_SHARD.get(id);
      },
    } as unknown as DurableObjectNamespace;
    const world = { ...service, VERDICT_SHARD: namespace, VERDICT_SHARDS: '1' };
    const rows = spread.map((record) => verdictRow(record, true));
    await appendRows(world, log, rows, { retentionDays: 30, nowMs: now });
    expect([calls, await batchesOf(name)]).toEqual([1, 1]);
  });

  test('whose numbers are reused with other content changes nothing, and is counted', async () => {
    const { log, name, records } = newLog();
    await send(log, records);
    const others = records.map((record) => ({ ...record, status: 599 }));
    expect(await send(log, others)).toEqual({ accepted: 0, duplicates: 60, conflicting: 60 });
    await shard(service, name).seal();
    expect(await send(log, others)).toEqual({ accepted: 0, duplicates: 60, conflicting: 60 });
    expect(await stored(log)).toEqual(bodies(records));
  });

  test('that two senders deliver in parts at once is stored once', async () => {
    const { log, records } = newLog();
    const parts = Array.from({ length: 12 }, (_, at) => records.slice(at * 4, at * 4 + 14));
    const answers = await Promise.all(parts.map((part) => send(log, part)));
    expect(answers.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(58);
    expect(await stored(log)).toEqual(bodies(records.slice(0, 58)));
  });

  test('too large for one value of the database is several rows, and reads like any other', async () => {
    const { log, name, records } = newLog();
    const long = Array.from({ length: 500 }, (_, seq) => {
      const record = records[seq % 60] as VerdictRecord;
      const text = `${seq} ${'€'.repeat(1000)}`;
      return verdictRecordOf(log.owner, {
        ...record,
        id: verdictRecordOf(log.owner, { timestamp: now }).id,
        timestamp: now - 600_000 + seq,
        user_agent: text,
        explain: text,
        edge: { ...record.edge, seq },
      });
    });
    expect(await send(log, long)).toMatchObject({ accepted: 500 });
    expect(await batchesOf(name)).toBeGreaterThan(1);
    expect(await send(log, long)).toMatchObject({ duplicates: 500, conflicting: 0 });
    expect(await stored(log)).toEqual(bodies(long));
    await shard(service, name).seal();
    expect(await stored(log)).toEqual(bodies(long));
  });

  test('from two days is sealed into a segment for each', async () => {
    const { log, name, records } = newLog();
    const day = 86_400_000;
    const midnight = Math.floor(now / day) * day;
    const across = records.map((record, at) => ({ ...record, timestamp: midnight - 30 + at - day }));
    await send(log, across);
    await shard(service, name).seal();
    const { objects } = await service.SEGMENTS.list({ prefix: `verdicts/instance=${log.owner}/` });
    const dates = objects.map(({ key }) => /date=([\d-]+)/.exec(key)?.[1]);
    expect(dates).toEqual([midnight - 2 * day, midnight - day].map((at) => new Date(at).toISOString().slice(0, 10)));
    expect(await stored(log)).toEqual(bodies(across));
    expect(await send(log, across)).toMatchObject({ accepted: 0, duplicates: 60 });
  });

  test('is sealed with others a part at a time, so that long texts of visitors do not fill the memory', async () => {
    const { log, name, records } = newLog();
    const many = Array.from({ length: 60 }, (_, batch) =>
      records.map((record, at) => ({
        ...record,
        id: verdictRecordOf(log.owner, { timestamp: now }).id,
        timestamp: now - 600_000 + batch * 1000 + at,
        edge: { ...record.edge, seq: batch * 60 + at },
      })),
    );
    for (const batch of many) await send(log, batch);
    const readAtOnce = await runInDurableObject(service.VERDICT_SHARD.getByName(name), async (_, { storage }) => {
      const read: number[] = [];
      const sql = new Proxy(storage.sql, {
        get: (target, property) => (property === 'exec' ? exec : Reflect.get(target, property, target)),
      });
      const exec = (query: string, ...values: SqlStorageValue[]) => {
        if (query.startsWith('SELECT no, bodies')) read.push((JSON.parse(values[0] as string) as number[]).length);
        return storage.sql.exec(query, ...values);
      };
      await new Sealer(sql, new HotRows(storage), service.SEGMENTS, name).sealOne(20_000, now);
      return Math.max(...read);
    });
    await evictDurableObject(service.VERDICT_SHARD.getByName(name));
    expect(readAtOnce).toBeLessThan(30);
    expect(await shard(service, name).statistics()).toMatchObject({ hotRows: 0, sealedRows: 3600 });
    const page = await readPage(service, log, {
      filter: everything,
      before: null,
      offset: 1000,
      limit: 1000,
      wantTotal: true,
    });
    expect(page.total).toBe(3600);
    expect(page.rows.map(({ body }) => body)).toEqual(bodies(many.flat()).slice(1000, 2000));
  });

  test('of which a session was erased keeps its place in the order of storing', async () => {
    const { log, name, records } = newLog();
    const mine = records.map((record, at) => ({ ...record, jti: at === 3 ? 'gone' : 'kept' }));
    for (const start of [0, 20, 40]) await send(log, mine.slice(start, start + 20));
    expect(await eraseSession(service, log, 'gone')).toBe(1);
    const told: number[] = [];
    for (let after = 0, more = true; more;) {
      const tail = await shard(service, name).tailRows({ filter: everything, after, limit: 7 });
      told.push(...tail.rows.map(({ seq }) => seq));
      ({ through: after, more } = tail);
    }
    expect(told).toEqual(Array.from({ length: 60 }, (_, at) => at + 1).filter((seq) => seq !== 4));
  });

  test('of which a session was erased keeps its other rows, and refuses a copy of the erased ones', async () => {
    const { log, name, records } = newLog();
    const mine = records.map((record, at) => ({ ...record, jti: at % 5 === 0 ? 'gone' : 'kept' }));
    await send(log, mine);
    expect(await eraseSession(service, log, 'gone')).toBe(12);
    const rest = mine.filter(({ jti }) => jti === 'kept');
    const held = await runInDurableObject(service.VERDICT_SHARD.getByName(name), (_, { storage }) =>
      storage.sql
        .exec<{ columns: string; bodies: ArrayBuffer; counts: string }>('SELECT columns, bodies, counts FROM batches')
        .toArray()
        .map(({ columns, bodies: lines, counts }) => [columns, counts, ...new PackedLines(lines).all()]),
    );
    expect(held.flat()).toHaveLength(2 + 48);
    expect(held.flat().join()).not.toContain('gone');
    await evictDurableObject(service.VERDICT_SHARD.getByName(name));
    expect(await send(log, mine)).toEqual({ accepted: 0, duplicates: 60, conflicting: 0 });
    expect(await stored(log)).toEqual(bodies(rest));
    await shard(service, name).seal();
    expect(await stored(log)).toEqual(bodies(rest));
  });
});

describe('what an isolate announced', () => {
  const missing = async (log: LogName, seconds: number) =>
    (await edgeTotals(service, log, now + seconds * 1000)).missing;

  test('and never sent counts as missing once the isolate has been silent for a minute', async () => {
    const { log, name, records } = newLog();
    // The isolate is stopped with 22 records in its buffer.
    await send(log, records.slice(0, 10), 22);
    expect([await missing(log, 0), await missing(log, 60)]).toEqual([0, 0]);
    expect(await missing(log, 61)).toBe(22);
    await evictDurableObject(service.VERDICT_SHARD.getByName(name));
    expect(await missing(log, 61)).toBe(22);
    await shard(service, name).seal();
    expect(await missing(log, 61)).toBe(22);
    // The queue had them after all.
    await send(log, records.slice(10, 32), 0, now + 90_000);
    expect(await missing(log, 300)).toBe(0);
  });

  test('is on its way while the isolate still sends', async () => {
    const { log, records } = newLog();
    await send(log, records.slice(0, 10), 50);
    await send(log, records.slice(10, 20), 40, now + 50_000);
    expect([await missing(log, 100), await missing(log, 111)]).toEqual([0, 40]);
  });

  test('does not hide a gap between batches that arrived', async () => {
    const { log, records } = newLog();
    await send(log, records.slice(0, 10), 50);
    await send(log, records.slice(30, 40), 20);
    expect([await missing(log, 0), await missing(log, 61)]).toEqual([20, 40]);
  });

  test('of an isolate that names no range is nothing, and its gaps count', async () => {
    const { log, records } = newLog();
    const rows = [...records.slice(0, 5), ...records.slice(8, 10)].map((record) => verdictRow(record, true));
    await appendRows(service, log, rows, { retentionDays: 30, nowMs: now });
    expect([await missing(log, 0), await missing(log, 1000)]).toEqual([3, 3]);
  });
});
