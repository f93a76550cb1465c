/**
 * A log that is built again from its Parquet files: after its index was lost, after its objects were lost, and with
 * files in the folder that are not its own. Whatever was lost, the same questions get the same answers.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { appendCaptchas, captchaLog, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import type { CaptchaEvent } from '../../src/store/event-log/captcha-record.ts';
import { rebuildStep } from '../../src/store/event-log/client/rebuild-log.ts';
import { type LogName, shard, shardNames } from '../../src/store/event-log/client/shards.ts';
import { countValues, edgeTotals, eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { storedDimensions } from '../../src/store/event-log/count-dimensions.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { everything, type RowFilter } from '../../src/store/event-log/row-filter.ts';
import { nextRevision, ownerFolder } from '../../src/store/event-log/segment-key.ts';
import type { SkippedObject } from '../../src/store/event-log/shard-rpc.ts';
import { stopSealing } from './stopped-sealing.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const single = env as ServiceEnv;
const sharded: ServiceEnv = { ...single, VERDICT_SHARDS: '3' };
const HOUR_MS = 3_600_000;
const now = testNow();
const SESSION = 'session-7';
const KEPT = { retentionDays: 90 };
let logs = 0;

function newLog(stream: LogName['stream'] = 'verdicts'): LogName {
  logs += 1;
  return { stream, owner: `rebuild-${logs}` };
}

/** Two days of records of five isolates; with `keepsAllow: false` allowed requests are only counted. */
function made(log: LogName, rows: number): VerdictRecord[] {
  const random = seededRandom(rows);
  return Array.from({ length: rows }, (_, seq) => {
    const record = variedRecord(log.owner, now - 30 * HOUR_MS + seq * 60_000, random, Math.floor(seq / 5));
    return { ...record, edge: { ...record.edge, isolate: `isolate-${seq % 5}` } };
  });
}

async function append(world: ServiceEnv, log: LogName, records: readonly VerdictRecord[], keepsAllow = true) {
  const rows = records.map((record) => verdictRow(record, keepsAllow || record.decision !== 'allow'));
  await appendRows(world, log, rows, arrivalNow());
}

const objectsOf = (world: ServiceEnv, log: LogName) =>
  shardNames(world, log, everything).map((name) => ({
    name,
    stub: world.VERDICT_SHARD.get(world.VERDICT_SHARD.idFromName(name)),
  }));

async function sealAll(world: ServiceEnv, log: LogName): Promise<void> {
  for (const { name } of objectsOf(world, log)) {
    const object = shard(world, name);
    await object.tune({ hotRowsMax: 1_000_000, segmentRows: 200 });
    for (let left = await object.seal(), before = Infinity; left > 0 && left < before;) {
      before = left;
      left = await object.seal();
    }
  }
}

/** Every object of the log is gone, as if it had never been. */
async function lose(world: ServiceEnv, log: LogName): Promise<void> {
  for (const { stub } of objectsOf(world, log)) {
    await runInDurableObject(stub, async (_, state) => state.storage.deleteAll());
    await evictDurableObject(stub);
  }
}

async function rebuild(world: ServiceEnv, log: LogName): Promise<{ rows: number; skipped: SkippedObject[] }> {
  const sum = { rows: 0, skipped: [] as SkippedObject[] };
  for (let next: string | null = null, isFirst = true; isFirst || next !== null; isFirst = false) {
    const step = await rebuildStep(world, log, KEPT, next);
    expect(step.next === null).toBe(step.segmentsLeft === 0);
    sum.rows += step.rows;
    sum.skipped.push(...step.skipped);
    next = step.next;
  }
  return sum;
}

/** The steps after the first. */
async function continued(world: ServiceEnv, log: LogName): Promise<void> {
  let next: string | null = ownerFolder(`${log.stream}/${log.owner}:0:0`);
  while (next !== null) next = (await rebuildStep(world, log, KEPT, next)).next;
}

const filters: RowFilter[] = [
  everything,
  { ...everything, jti: SESSION },
  { ...everything, outcomes: [2], devices: ['mobile'] },
  { ...everything, path: { text: '/shop/1', prefix: true } },
  { ...everything, firedRules: ['ip:192.0.2.3'], since: now - 20 * HOUR_MS },
];

/** What every kind of read returns. */
async function answers(world: ServiceEnv, log: LogName): Promise<unknown> {
  const pages = await Promise.all(
    filters.map((filter) =>
      readPage(world, log, { filter, before: null, offset: 0, limit: 1000, wantTotal: true }).then(
        ({ rows, total, totalIsExact }) => ({ bodies: rows.map(({ body }) => body), total, totalIsExact }),
      ),
    ),
  );
  const window = { from: 0, to: Math.ceil(now / 60_000) + 60, outcomes: null };
  const counts = await Promise.all(
    storedDimensions.map((dimension) => countValues(world, log, dimension, window, 1000)),
  );
  const { counters, missing } = await edgeTotals(world, log, now);
  return { pages, counts, counters, missing };
}

describe.each([
  ['one shard', single],
  ['three shards', sharded],
])('a log of %s', (_, world) => {
  test('gives the same answers before sealing, after it, and after a rebuild of a lost index or lost objects', async () => {
    const log = newLog();
    const records = made(log, 900);
    await append(world, log, records.slice(0, 450), false);
    await append(world, log, records.slice(450, 880), false);
    const before = await answers(world, log);
    await sealAll(world, log);
    expect(await answers(world, log)).toEqual(before);
    const kept = records.slice(0, 880).filter(({ decision }) => decision !== 'allow').length;
    expect(await rebuild(world, log)).toEqual({ rows: kept, skipped: [] });
    expect(await answers(world, log)).toEqual(before);
    await lose(world, log);
    expect(await answers(world, log)).not.toEqual(before);
    expect(await rebuild(world, log)).toEqual({ rows: kept, skipped: [] });
    expect(await answers(world, log)).toEqual(before);
    // A copy of what the lost object had stored is recognised, and the sums of counters are added once.
    await append(world, log, records.slice(0, 450), false);
    await rebuild(world, log);
    expect(await answers(world, log)).toEqual(before);
  });

  test('keeps what arrives and what is sealed while it is rebuilt', async () => {
    const log = newLog();
    const records = made(log, 800);
    await append(world, log, records.slice(0, 500));
    await sealAll(world, log);
    await append(world, log, records.slice(500, 600));
    await Promise.all(objectsOf(world, log).map(({ name }) => shard(world, name).beginRebuild(KEPT)));
    await append(world, log, records.slice(600));
    await sealAll(world, log);
    await continued(world, log);
    const page = await readPage(world, log, {
      filter: everything,
      before: null,
      offset: 0,
      limit: 1000,
      wantTotal: true,
    });
    expect([page.rows.length, page.total]).toEqual([800, 800]);
    const { values } = await countValues(world, log, 'none', { from: 0, to: 2 ** 31, outcomes: null }, 1);
    expect(values[0]?.counts.reduce((sum, count) => sum + count, 0)).toBe(800);
  });
});

test('a session that is erased during a rebuild does not come back', async () => {
  const log = newLog();
  const records = made(log, 600);
  await append(single, log, records);
  await sealAll(single, log);
  await Promise.all(objectsOf(single, log).map(({ name }) => shard(single, name).beginRebuild(KEPT)));
  await eraseSession(single, log, SESSION);
  await continued(single, log);
  const { total } = await readPage(single, log, {
    filter: everything,
    before: null,
    offset: 0,
    limit: 1,
    wantTotal: true,
  });
  expect(total).toBe(records.filter(({ jti }) => jti !== SESSION).length);
});

test('a session that is erased during a rebuild does not come back when its last step fails and is repeated', async () => {
  const log = newLog();
  await append(single, log, made(log, 600));
  await sealAll(single, log);
  const [{ name, stub }] = objectsOf(single, log) as [ReturnType<typeof objectsOf>[number]];
  await shard(single, name).beginRebuild(KEPT);
  await eraseSession(single, log, SESSION);
  await runInDurableObject(stub, (instance) => {
    const held = instance as unknown as { env: ServiceEnv };
    const put = () => Promise.reject(new Error('R2 is down'));
    const get = (...given: Parameters<R2Bucket['get']>) => single.SEGMENTS.get(...given);
    held.env = { ...held.env, SEGMENTS: { put, get } as unknown as R2Bucket };
  });
  await expect(continued(single, log)).rejects.toThrow('R2 is down');
  await evictDurableObject(stub);
  await continued(single, log);
  const request = { filter: { ...everything, jti: SESSION }, before: null, offset: 0, limit: 1, wantTotal: true };
  expect((await readPage(single, log, request)).total).toBe(0);
});

test('what an isolate numbered and never sent stays missing after a rebuild', async () => {
  const log = newLog();
  const records = made(log, 300);
  await append(single, log, records.toSpliced(100, 5));
  const missing = async () => (await edgeTotals(single, log, now + HOUR_MS)).missing;
  expect(await missing()).toBe(5);
  await sealAll(single, log);
  await lose(single, log);
  await rebuild(single, log);
  expect(await missing()).toBe(5);
});

test('isolates and counters may have any name, and records any number', async () => {
  const log = newLog();
  const names = ['constructor', 'toString', '__proto__'];
  const records = made(log, 90).map((record, at) => ({
    ...record,
    edge: {
      ...record.edge,
      isolate: names[at % 3] as string,
      seq: at % 3 === 0 ? Number.MAX_SAFE_INTEGER - at : Math.floor(at / 3),
    },
  }));
  const rows = records.map((record) => verdictRow(record, true));
  await appendRows(single, log, rows, { ...arrivalNow(), counters: { constructor: 2 } });
  const before = await answers(single, log);
  expect((await edgeTotals(single, log, now)).counters).toMatchObject({ constructor: 2 });
  await sealAll(single, log);
  await lose(single, log);
  expect(await rebuild(single, log)).toEqual({ rows: 90, skipped: [] });
  await append(single, log, records);
  expect(await answers(single, log)).toEqual(before);
});

test('a log that is kept for longer than others is kept as long after a rebuild', async () => {
  const log = newLog();
  const records = made(log, 60).map((record) => ({ ...record, timestamp: record.timestamp - 60 * 24 * HOUR_MS }));
  const rows = records.map((record) => verdictRow(record, true));
  await appendRows(single, log, rows, arrivalNow(KEPT.retentionDays));
  await sealAll(single, log);
  const before = await answers(single, log);
  await lose(single, log);
  await rebuild(single, log);
  for (const { stub } of objectsOf(single, log)) await runDurableObjectAlarm(stub);
  expect(await answers(single, log)).toEqual(before);
});

test('requests that were only counted outlive a rebuild and the maintenance after it', async () => {
  const log = newLog();
  const records = made(log, 300).map((record) => ({ ...record, decision: 'allow' as const }));
  await append(single, log, records, false);
  const before = await answers(single, log);
  await sealAll(single, log);
  for (const round of [1, 2]) {
    await lose(single, log);
    expect([round, await rebuild(single, log)]).toEqual([round, { rows: 0, skipped: [] }]);
    for (const { stub } of objectsOf(single, log)) await runDurableObjectAlarm(stub);
    expect(await answers(single, log)).toEqual(before);
  }
  await append(single, log, records, false);
  expect(await answers(single, log)).toEqual(before);
});

test('an erased session stays erased, and counted away, after a rebuild', async () => {
  const log = newLog();
  await append(single, log, made(log, 600));
  await sealAll(single, log);
  expect(await eraseSession(single, log, SESSION)).toBeGreaterThan(0);
  const before = await answers(single, log);
  await lose(single, log);
  await rebuild(single, log);
  expect(await answers(single, log)).toEqual(before);
});

test('a file that a crash left without a manifest is not read twice', async () => {
  const log = newLog();
  await append(single, log, made(log, 300));
  const before = await answers(single, log);
  const [{ name, stub }] = objectsOf(single, log) as [ReturnType<typeof objectsOf>[number]];
  await runInDurableObject(stub, async (_, state) => {
    const stopped = await stopSealing(state.storage, single.SEGMENTS, name, { segmentRows: 200, nowMs: now + 60_000 });
    expect(stopped).toBe(true);
  });
  await evictDurableObject(stub);
  expect(await rebuild(single, log)).toEqual({ rows: 0, skipped: [] });
  expect(await answers(single, log)).toEqual(before);
  await sealAll(single, log);
  expect(await answers(single, log)).toEqual(before);
});

test('foreign, cut and replaced files are skipped with a reason, and stay', async () => {
  const log = newLog();
  await append(single, log, made(log, 300));
  await sealAll(single, log);
  const bucket = single.SEGMENTS;
  const folder = ownerFolder(`verdicts/${log.owner}:0:0`);
  const before = await answers(single, log);
  const [own] = (await bucket.list({ prefix: folder })).objects.map(({ key }) => key);
  const key = own as string;
  const bytes = await (await bucket.get(key))?.bytes();
  const whole = bytes as Uint8Array<ArrayBuffer>;
  const day = key.slice(0, key.lastIndexOf('/') + 1);
  await bucket.put(`${folder}notes.txt`, 'hello');
  await bucket.put(`${day}0-0-30000001.parquet`, 'no Parquet at all');
  await bucket.put(`${day}0-0-30000002.parquet`, whole.subarray(0, 2000));
  await bucket.put(`${day}0-0-30000003.parquet`, whole);
  await bucket.put(`${day}7-0-30000004.parquet`, whole);
  await bucket.put(nextRevision(key), whole);
  const damaged = whole.slice();
  damaged.fill(0xff, 8, 4000);
  const { skipped } = await rebuild(single, log);
  expect(Object.fromEntries(skipped.map(({ object, reason }) => [object.slice(folder.length), reason]))).toEqual({
    'notes.txt': 'Its name is not that of a segment',
    [`${day}0-0-30000001.parquet`.slice(folder.length)]: 'It is cut off, or no Parquet file',
    [`${day}0-0-30000002.parquet`.slice(folder.length)]: 'It is cut off, or no Parquet file',
    [`${day}0-0-30000003.parquet`.slice(folder.length)]: expect.stringMatching(/^It is segment \d+ of verdicts/),
    [`${day}7-0-30000004.parquet`.slice(folder.length)]: 'VERDICT_SHARDS has no such shard',
    [key.slice(folder.length)]: `It was replaced by ${nextRevision(key)}`,
  });
  expect((await bucket.list({ prefix: folder })).objects.length).toBeGreaterThan(6);
  expect(await answers(single, log)).toEqual(before);
  await bucket.put(nextRevision(key), damaged);
  expect((await rebuild(single, log)).skipped.map(({ object }) => object)).toContain(nextRevision(key));
});

test('captchas are rebuilt, and a late event of a sealed one changes nothing', async () => {
  const account = `rebuild-captchas-${now}`;
  const log = captchaLog(account);
  const at = now - 5 * HOUR_MS;
  const events = Array.from({ length: 120 }, (_, no): CaptchaEvent => ({
    event: 'submitted',
    jti: (no + 1).toString(16).padStart(32, '0'),
    account_id: account,
    site_key: 'site-1',
    timestamp: at + no,
    captcha_type: 'pow',
    at: at + no + 50,
    correct: no % 3 > 0,
    reason: null,
    score: 0.5,
    detectors: [],
  }));
  await appendCaptchas(single, events);
  const query = { siteKey: null, type: null, conditions: [], since: at - 1, until: now };
  const found = () => searchCaptchas(single, account, query, null, 1000);
  const before = await found();
  await sealAll(single, log);
  await lose(single, log);
  expect((await rebuild(single, log)).rows).toBe(120);
  expect(await found()).toEqual(before);
  await appendCaptchas(single, [{ ...(events[0] as CaptchaEvent), correct: true, at: at + 999 } as CaptchaEvent]);
  expect(await found()).toEqual(before);
});
