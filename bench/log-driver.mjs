/**
 * The Worker inside `npm run bench -- log`: appends made-up records to the real VerdictShard by RPC, as the service does,
 * and reads them back by the service's own readers. Times are taken around I/O, where a Worker's clock
 * moves. Plain JavaScript: it belongs to neither tsconfig's world alone.
 */
import { newEventId } from '../src/logsink/event-id.ts';
import { acceptBatch } from '../src/service/ingest/accept-batch.ts';
import { everything } from '../src/store/event-log/row-filter.ts';
import { appendRows, countSeries, countValues, verdictLogOf } from '../src/store/event-log/client/verdict-log.ts';
import { readPage } from '../src/store/event-log/client/verdict-page.ts';
import { verdictRow } from '../src/store/event-log/log-row.ts';
import { instance, record, records } from './log-records.mjs';

export { VerdictShard } from './log-shard.mjs';

const log = verdictLogOf(instance);
const BATCH_RECORDS = 500;
/** Batches under way at once, as several isolates send them. */
const IN_FLIGHT = 4;
const PAGE_ROWS = 50;

/** What becomes of a batch of records; `make` makes them and no more. */
const ways = {
  make: async () => ({ accepted: BATCH_RECORDS, duplicates: 0 }),
  bare: async (env, batch) => shardOf(env).bareAppend(batch),
  append: async (env, batch) => appendRows(env, log, batch, instance.retentionDays),
  accept: async (env, batch, until) =>
    acceptBatch(env, instance, { batchId: newEventId(until), records: batch, counters: {} }, until),
};

async function fill(env, { way, twice, ...span }) {
  const made = [...records(span)];
  const batches = [];
  for (let start = 0; start < made.length; start += BATCH_RECORDS) {
    const batch = made.slice(start, start + BATCH_RECORDS);
    batches.push(way === 'accept' ? batch : batch.map((one) => verdictRow(one, true)));
  }
  const queue = twice ? [...batches, ...batches] : batches;
  const started = Date.now();
  const sum = { accepted: 0, duplicates: 0 };
  let next = 0;
  const send = async () => {
    while (next < queue.length) {
      const answer = await ways[way](env, queue[next++], span.until);
      sum.accepted += answer.accepted;
      sum.duplicates += answer.duplicates;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  return { ...sum, ms: Date.now() - started };
}

const shardOf = (env) => env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName('verdicts/bench:0:0'));

const answers = {
  fill,
  load: async (env, span) => ({ rows: await shardOf(env).load(span) }),
  restart: async (env) => {
    await shardOf(env)
      .restart()
      .catch(() => undefined);
    return shardOf(env).statistics();
  },
  statistics: async (env) => shardOf(env).statistics(),
  nothing: async () => ({}),
  sample: async (_, { number }) => record(number, 0),
  barePage: async (env) => ({ rows: (await shardOf(env).barePage(PAGE_ROWS)).length }),
  page: async (env, given) => {
    const filter = { ...everything, ...given.filter };
    const page = await readPage(env, log, { filter, before: null, offset: 0, limit: PAGE_ROWS, wantTotal: true });
    return { rows: page.rows.length, total: page.total, totalIsExact: page.totalIsExact };
  },
  top: async (env, given) => {
    const window = { from: given.from, to: given.to, outcomes: null };
    const { values } = await countValues(env, log, given.dimension, window, 10);
    const top = values.map(({ value }) => value);
    const series = await countSeries(env, log, given.dimension, top, window, given.bucketMinutes);
    return { values: values.length, points: series.other.length };
  },
};

export default {
  async fetch(request, env) {
    const { op, ...given } = await request.json();
    return Response.json(await answers[op](env, given));
  },
};
