/** Verdict records for tests: a plain one, and seeded ones that vary in every dimension. */
import type { RecordInputs, VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import {
  botProofs,
  decisions,
  deviceTypes,
  type EdgeRuleType,
  edgeRuleTypes,
  ipCategories,
  verdictSources,
} from '../../src/contract/vocabulary.ts';
import { newEventId } from '../../src/logsink/event-id.ts';
import type { SinkBatch } from '../../src/logsink/sink.ts';
import { testNow } from './clock.ts';

/** Each record has a number of its own, also beside those of other files, so that no two are taken for the same. */
let ownIsolate: string | null = null;
let numbered = 0;

export function verdictRecordOf(
  instanceId: string,
  given: Partial<VerdictRecord> & { timestamp: number },
): VerdictRecord {
  const { timestamp, ...facts } = given;
  const isRecorded = 'inputs' in given || 'explain' in given;
  ownIsolate ??= `isolate-${crypto.randomUUID()}`;
  return {
    v: 1,
    id: newEventId(timestamp),
    request_id: 'request-1',
    timestamp,
    instance_id: instanceId,
    site_key: 'site-1',
    jti: null,
    ip: '192.0.2.1',
    ip_category: [],
    country: 'DE',
    asn: 64_496,
    ja4: null,
    user_agent: 'Mozilla/5.0',
    bot: null,
    device_type: 'desktop',
    method: 'GET',
    host: 'shop.example',
    request_path: '/',
    path_type: 'html',
    decision: 'allow',
    source: 'default',
    decided_by: 'default',
    fired_rules: [],
    // Named here, so that given ones have their place in the record.
    inputs: isRecorded ? undefined : inputsOf(given),
    explain: undefined,
    enforcement_policy: 'enforce',
    session_status: 'active',
    verified: null,
    level: null,
    risk_score: 0,
    status: 200,
    origin_ms: 12,
    ruleset_version: 1,
    edge: { colo: 'FRA', version: '0.1.0', isolate: ownIsolate, seq: numbered++ },
    ...facts,
  };
}

/** What the table would have decided from, for a record that does not say it. */
function inputsOf(record: Partial<VerdictRecord>): RecordInputs {
  const { fired_rules: fired = [], source, decision: verdict = 'allow', decided_by: by = 'default' } = record;
  const enforced = fired.filter(({ mode }) => mode === 'enforce');
  const first = (kind: RegExp) => enforced.find(({ id }) => kind.test(id));
  const network = first(/^(?:ip|ipMask|asn|countryCode|list):/);
  const client = first(/^(?:ja4Hash|userAgent):/);
  const limit = first(/^limit:/);
  const inputs: RecordInputs = {};
  if (network) inputs.network = { verdict: network.verdict, id: network.id, type: networkType(network.id) };
  if (client) inputs.client = { verdict: client.verdict, id: client.id };
  if (source === 'bot' && record.bot) inputs.bot = { verdict };
  if (source === 'ip-category') inputs.category = { verdict, category: record.ip_category?.[0] ?? 'tor' };
  if (source === 'risk') inputs.risk = { verdict };
  if (limit) inputs.limit = { verdict: limit.verdict, name: limit.id.slice('limit:'.length) };
  if (source === 'policy') inputs.policy = { verdict, reason: by.replace('policy:', '') };
  return inputs;
}

function networkType(id: string): EdgeRuleType {
  return edgeRuleTypes.find((type) => id.startsWith(`${type}:`)) ?? 'ipMask';
}

/** These records, which one isolate numbered in this order, as its batch. */
export function sinkBatchOf(
  batchId: string,
  records: readonly VerdictRecord[],
  counters: Record<string, number> = {},
): SinkBatch {
  const [first, last] = [records[0]?.edge, records.at(-1)?.edge];
  const range = { isolate: first?.isolate ?? 'isolate-1', firstSeq: first?.seq ?? 0, lastSeq: last?.seq ?? 0, held: 0 };
  return { batchId, ...range, records, counters };
}

/** What an append says beside its rows. */
export function arrivalNow(retentionDays = 30): { retentionDays: number; nowMs: number } {
  return { retentionDays, nowMs: testNow() };
}

/** Mulberry32: the same seed gives the same records. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function pick<T>(random: () => number, values: readonly [T, ...T[]]): T {
  return values[Math.floor(random() * values.length)] ?? values[0];
}

/** One record of a typical day: few countries, more networks, many paths. A third belong to sessions. */
export function variedRecord(instanceId: string, timestamp: number, random: () => number, seq: number): VerdictRecord {
  const rules = Array.from({ length: Math.floor(random() * 3) }, () => `ip:192.0.2.${Math.floor(random() * 20)}`);
  return verdictRecordOf(instanceId, {
    timestamp,
    jti: random() < 0.33 ? `session-${Math.floor(random() * 50)}` : null,
    ip: random() < 0.95 ? `198.51.100.${Math.floor(random() * 200)}` : null,
    ip_category: ipCategories.filter(() => random() < 0.1),
    country: random() < 0.95 ? pick(random, ['DE', 'FR', 'US', 'BR', 'IN']) : null,
    asn: random() < 0.9 ? 64_496 + Math.floor(random() * 40) : null,
    ja4: random() < 0.5 ? `t13d1516h2_8daaf6152771_${Math.floor(random() * 9)}` : null,
    user_agent: `Mozilla/5.0 (agent ${Math.floor(random() * 30)})`,
    bot:
      random() < 0.3
        ? { id: `bot-${Math.floor(random() * 8)}`, behaviours: ['search'], proof: pick(random, botProofs) }
        : null,
    device_type: pick(random, deviceTypes),
    request_path: `/shop/${Math.floor(random() * 60)}`,
    decision: pick(random, decisions),
    source: pick(random, verdictSources),
    fired_rules: [...new Set(rules)].map((id) => ({ id, verdict: 'block', mode: 'enforce' })),
    enforcement_policy: random() < 0.9 ? 'enforce' : 'monitor',
    risk_score: random() < 0.8 ? Math.round(random() * 100) / 100 : null,
    edge: { colo: 'FRA', version: '0.1.0', isolate: 'isolate-1', seq },
  });
}
