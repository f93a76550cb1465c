/**
 * The Worker of `npm run bench -- log`: appends made-up records to the log as the service does, and reads them with the
 * service's own readers. It reads the clock only around I/O, because a Worker's clock stands still otherwise.
 */
import { attackStateOf } from '../../src/attack/attack-state.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { newEventId } from '../../src/logsink/event-id.ts';
import { acceptBatch } from '../../src/service/ingest/accept-batch.ts';
import { rowFilter } from '../../src/service/operations/protect/verdicts/verdict-log-query.ts';
import type { StoredInstance } from '../../src/store/d1/instances.ts';
import type { StoredDimension } from '../../src/store/event-log/count-dimensions.ts';
import { packBatch } from '../../src/store/event-log/client/pack-batch.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { countSeries, countValues, verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import { everything, type RowFilter } from '../../src/store/event-log/row-filter.ts';
import { restarted } from './loaded-shard.ts';
import { heldBatches, type VerdictShard } from './log-shard.ts';
import { INSTANCE_ID, madeRecord, madeRecords, type RecordSpan } from './log-traffic.ts';

export { VerdictShard } from './log-shard.ts';

interface BenchEnv extends Omit<ServiceEnv, 'VERDICT_SHARD'> {
  VERDICT_SHARD: DurableObjectNamespace<VerdictShard>;
}

/** One instance, with the fields that accepting a batch reads. */
const instance: StoredInstance = {
  ...instanceSettings.parse({}),
  id: INSTANCE_ID,
  accountId: 'bench',
  name: 'Bench',
  cname: 'shop.example',
  globalSiteKey: 'site-bench',
  active: true,
  clientJwtsRevokedBefore: null,
  allowVerdicts: 'rows',
  retentionDays: 30,
  version: 1,
  policyVersion: 0,
  createdAt: 0,
  updatedAt: 0,
  attack: attackStateOf(null),
};
const log = verdictLogOf(instance);
const BATCH_RECORDS = 500;
/** Batches that are sent at once, as several isolates do. */
const IN_FLIGHT = 4;
const PAGE_ROWS = 50;
const REFERENCE_WITHIN_MS = 60_000;

/**
 * `make` only makes the records. `bare` appends them to a plain table. `accept` checks each of them, as the service
 * does.
 */
type Way = 'make' | 'bare' | 'append' | 'accept';

interface Fill extends RecordSpan {
  way: Way;
  /** Every batch is sent a second time. */
  twice?: boolean;
}

async function fill(env: BenchEnv, { way, twice = false, ...span }: Fill): Promise<object> {
  // Records are made before the time starts.
  const batches: (() => Promise<{ accepted: number; duplicates: number }>)[] = [];
  const records = [...madeRecords(span)];
  for (let start = 0; start < records.length; start += BATCH_RECORDS) {
    batches.push(batchOf(env, way, records.slice(start, start + BATCH_RECORDS), span.until));
  }
  const queue = twice ? [...batches, ...batches] : batches;
  const started = Date.now();
  const sum = { accepted: 0, duplicates: 0 };
  let next = 0;
  const send = async () => {
    for (let batch = queue[next++]; batch !== undefined; batch = queue[next++]) {
      const { accepted, duplicates } = await batch();
      sum.accepted += accepted;
      sum.duplicates += duplicates;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  return { ...sum, ms: Date.now() - started };
}

function batchOf(env: BenchEnv, way: Way, records: VerdictRecord[], nowMs: number) {
  if (way === 'accept') {
    const counters = {};
    return () => acceptBatch(env, instance, { batchId: newEventId(nowMs), records, counters }, nowMs);
  }
  const rows = records.map((record) => verdictRow(record, true));
  if (way === 'bare') {
    const bare = rows.map(({ record: { id, timestamp }, body }) => ({ id, timestamp, body }));
    return () => shardOf(env).bareAppend(bare);
  }
  if (way === 'append')
    return () => appendRows(env, log, rows, { retentionDays: instance.retentionDays, nowMs: Date.now() });
  return async () => ({ accepted: rows.length, duplicates: 0 });
}

/** Keeps the records packed, so that the calls that follow measure the shard and not the making and packing. */
function hold(span: RecordSpan): object {
  heldBatches.length = 0;
  const sender = { isolate: 'isolate-bench', numbered: 0, announced: 0, heardAt: span.until };
  for (let first = span.first; first < span.first + span.rows; first += BATCH_RECORDS) {
    const rows = [...madeRecords({ ...span, first, rows: BATCH_RECORDS })].map((record) => verdictRow(record, true));
    heldBatches.push(...packBatch(sender, rows, {}));
  }
  return { batches: heldBatches.length };
}

async function sendHeld(env: BenchEnv): Promise<object> {
  const started = Date.now();
  const queue = heldBatches.values();
  let accepted = 0;
  const send = async () => {
    for (const batch of queue) {
      const answers = await shardOf(env, 1).append([batch], { retentionDays: instance.retentionDays });
      if (answers[0]?.known.length === 0) accepted += batch.hashes.length;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  return { accepted, ms: Date.now() - started };
}

/** The second shard only appends: it is told to seal nothing. */
function shardOf(env: BenchEnv, index: 0 | 1 = 0) {
  return env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName(`verdicts/${INSTANCE_ID}:0:${index}`));
}

interface TopRequest {
  dimension: StoredDimension;
  /** Minutes since the epoch. */
  from: number;
  to: number;
  bucketMinutes: number;
}

async function page(env: BenchEnv, wanted: Partial<RowFilter>): Promise<object> {
  const filter = { ...everything, ...wanted };
  const found = await readPage(env, log, { filter, before: null, offset: 0, limit: PAGE_ROWS, wantTotal: true });
  return { rows: found.rows.length, total: found.total, totalIsExact: found.totalIsExact };
}

/** What a sparse page cannot do without: range reads as long as a row group, each of another object while there are some. */
async function rangeReads(env: BenchEnv, { reads, atOnce, bytes }: RangeReads): Promise<object> {
  objects ??= (await env.SEGMENTS.list({ prefix: 'verdicts/' })).objects;
  const held = objects;
  let next = 0;
  let read = 0;
  const lane = async (): Promise<void> => {
    for (let no = next++; no < reads; no = next++) {
      const { key, size } = held[no % held.length] as R2Object;
      const offset = Math.floor(((size - bytes) * no) / reads);
      const part = await env.SEGMENTS.get(key, { range: { offset, length: bytes } });
      const length = (await part?.arrayBuffer())?.byteLength ?? 0;
      read += length;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { objects: Math.min(held.length, reads), bytes: read };
}

/** Listed once: the floor is the reads alone. */
let objects: R2Object[] | null = null;

/** The reference of a verdict at this time or after it. */
async function referenceAt(env: BenchEnv, timestamp: number): Promise<object> {
  const filter = { ...everything, since: timestamp, until: timestamp + REFERENCE_WITHIN_MS };
  const { rows } = await readPage(env, log, { filter, before: null, offset: 0, limit: 1, wantTotal: false });
  return { requestId: rows[0]?.id };
}

async function top(env: BenchEnv, { dimension, from, to, bucketMinutes }: TopRequest): Promise<object> {
  const window = { from, to, outcomes: null };
  const { values } = await countValues(env, log, dimension, window, 10);
  const largest = values.map(({ value }) => value);
  const series = await countSeries(env, log, dimension, largest, window, bucketMinutes);
  return { values: values.length, points: series.other.length };
}

interface RangeReads {
  reads: number;
  atOnce: number;
  bytes: number;
}

type Call =
  | ({ op: 'fill' } & Fill)
  | ({ op: 'load' | 'hold' } & RecordSpan)
  | ({ op: 'top' } & TopRequest)
  | { op: 'page'; filter: Partial<RowFilter> }
  | ({ op: 'rangeReads' } & RangeReads)
  | { op: 'sample'; number: number }
  | { op: 'referenceAt'; timestamp: number }
  | { op: 'byReference'; requestId: string }
  | { op: 'sealNothing' | 'sendHeld' | 'storeHeld' | 'restart' | 'statistics' | 'nothing' | 'barePage' | 'cost' };

async function respond(env: BenchEnv, call: Call): Promise<object> {
  switch (call.op) {
    case 'fill':
      return fill(env, call);
    case 'hold':
      return hold(call);
    case 'sendHeld':
      return sendHeld(env);
    case 'storeHeld':
      return shardOf(env, 1).storeHeld();
    case 'load':
      return { rows: await shardOf(env).load(call) };
    case 'sealNothing':
      await shardOf(env, 1).tune({ hotRowsMax: 10_000_000, segmentRows: 10_000_000, hotBytesMax: 1_000_000_000 });
      return {};
    case 'restart':
      await restarted(shardOf(env));
      return shardOf(env).statistics();
    case 'statistics':
      return shardOf(env).statistics();
    case 'cost': {
      const { databaseBytes, sealedBytes } = await shardOf(env).statistics();
      return { writtenRows: await shardOf(env).writtenRows(), databaseBytes, sealedBytes };
    }
    case 'nothing':
      return {};
    case 'sample':
      return madeRecord(call.number, 0);
    case 'barePage':
      return { rows: (await shardOf(env).barePage(PAGE_ROWS)).length };
    case 'page':
      return page(env, call.filter);
    case 'rangeReads':
      return rangeReads(env, call);
    case 'referenceAt':
      return referenceAt(env, call.timestamp);
    case 'byReference':
      return page(env, rowFilter({ requestId: call.requestId }, 0));
    case 'top':
      return top(env, call);
  }
}

export default {
  async fetch(request, env) {
    return Response.json(await respond(env, await request.json()));
  },
} satisfies ExportedHandler<BenchEnv>;
