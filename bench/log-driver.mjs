/**
 * The Worker inside `npm run bench -- log`: makes records and appends them to the real VerdictShard by RPC, as the
 * service does, and reads them back by the service's own readers. Times are taken around I/O, where a
 * Worker's clock moves. Plain JavaScript: it belongs to neither tsconfig's world alone.
 */
import { newEventId } from '../src/logsink/event-id.ts';
import { acceptBatch, verdictLogOf } from '../src/service/protect/verdicts/accept-batch.ts';
import { everything } from '../src/store/verdict-log/filter.ts';
import { appendRows, countSeries, countValues } from '../src/store/verdict-log/log.ts';
import { readPage } from '../src/store/verdict-log/read-page.ts';
import { verdictRow } from '../src/store/verdict-log/row.ts';

export { VerdictShard } from '../src/store/verdict-shard.ts';

const instance = { id: 'bench', allowVerdicts: 'rows', retentionDays: 30 };
const log = verdictLogOf(instance);
const BATCH_RECORDS = 500;
/** Batches under way at once, as several isolates send them. */
const IN_FLIGHT = 4;

const countries = ['DE', 'FR', 'US', 'BR', 'IN', 'GB', 'PL', 'JP'];
const sources = ['default', 'access-rule', 'risk', 'policy', 'clearance', 'ip-category'];

/** A made-up visitor's request: 20,000 addresses, 2,000 networks, 500 paths, 300 agents, ten requests a session. */
function record(number, timestamp) {
  const visitor = Math.floor(number / 10);
  const mixed = Math.imul(visitor ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const decision = number % 20 === 0 ? 'block' : number % 10 === 0 ? 'challenge' : 'allow';
  return {
    v: 1,
    id: newEventId(timestamp),
    request_id: `${number.toString(16).padStart(32, '0')}`,
    timestamp,
    instance_id: instance.id,
    site_key: 'site-bench',
    jti: `session-${visitor.toString(36)}-${mixed.toString(36)}`,
    ip: `10.${mixed % 20}.${(mixed >>> 8) % 100}.${(mixed >>> 16) % 10}`,
    ip_category: mixed % 13 === 0 ? ['datacenter'] : [],
    country: countries[mixed % countries.length],
    asn: 64_496 + (mixed % 2000),
    ja4: `t13d1516h2_8daaf6152771_${(mixed % 150).toString(16).padStart(12, '0')}`,
    user_agent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1${mixed % 300}.0 Safari/537.36`,
    device_type: mixed % 3 === 0 ? 'mobile' : 'desktop',
    method: 'GET',
    host: 'shop.example',
    request_path: `/shop/products/${number % 500}`,
    path_type: 'html',
    decision,
    source: decision === 'allow' ? 'default' : sources[mixed % sources.length],
    decided_by: decision === 'allow' ? 'default' : `asn:${64_496 + (mixed % 2000)}`,
    fired_rules:
      decision === 'allow' ? [] : [{ id: `asn:${64_496 + (mixed % 2000)}`, verdict: decision, mode: 'enforce' }],
    explain: 'network rule asn decided; no other input was more restrictive',
    enforcement_policy: 'enforce',
    session_status: 'active',
    verified: null,
    level: null,
    risk_score: (mixed % 100) / 100,
    status: decision === 'allow' ? 200 : 403,
    origin_ms: 17,
    ruleset_version: 12,
    edge: { colo: 'FRA', version: '0.1.0', isolate: 'isolate-bench', seq: number },
  };
}

/** Appends `rows` records whose times go evenly from `since` to `until`, beginning with number `first`. */
async function fill(env, { first, rows, total, since, until, validate, twice }) {
  const batches = [];
  for (let start = first; start < first + rows; start += BATCH_RECORDS) {
    const records = [];
    for (let number = start; number < Math.min(start + BATCH_RECORDS, first + rows); number++) {
      records.push(record(number, Math.floor(since + ((until - since) * number) / total)));
    }
    batches.push(validate ? records : records.map((made) => verdictRow(made, true)));
  }
  const queue = twice ? [...batches, ...batches] : batches;
  const started = Date.now();
  const sum = { accepted: 0, duplicates: 0 };
  let next = 0;
  const send = async () => {
    while (next < queue.length) {
      const batch = queue[next++];
      const answer = validate
        ? await acceptBatch(env, instance, { batchId: newEventId(started), records: batch, counters: {} }, until)
        : await appendRows(env, log, batch, 30);
      sum.accepted += answer.accepted;
      sum.duplicates += answer.duplicates;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  return { ...sum, ms: Date.now() - started };
}

export default {
  async fetch(request, env) {
    const { op, ...given } = await request.json();
    if (op === 'fill') return Response.json(await fill(env, given));
    if (op === 'sample') {
      const sample = record(given.number, 0);
      return Response.json({ jti: sample.jti, ip: sample.ip, asn: sample.asn });
    }
    if (op === 'page') {
      const filter = { ...everything, ...given.filter };
      const page = await readPage(env, log, { filter, before: null, offset: 0, limit: 50, wantTotal: true });
      return Response.json({ rows: page.rows.length, total: page.total, totalIsExact: page.totalIsExact });
    }
    if (op === 'top') {
      const window = { from: given.from, to: given.to, outcomes: null };
      const { values } = await countValues(env, log, given.dimension, window, 10);
      const top = values.map(({ value }) => value);
      const series = await countSeries(env, log, given.dimension, top, window, given.bucketMinutes);
      return Response.json({ values: values.length, points: series.other.length });
    }
    const stats = await env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName('verdicts/bench:0:0')).statistics();
    return Response.json(stats);
  },
};
