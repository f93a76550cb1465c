/**
 * Rows of the log. The Worker makes a row from a checked record, so that the shard neither validates nor serialises.
 * Readers receive its JSON, and sealed segments hold it.
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import type { LogRecord } from './log-record.ts';

/** A numbered record on its way to the log. */
export interface NumberedRow {
  record: LogRecord & { edge: Pick<VerdictRecord['edge'], 'isolate' | 'seq'> };
  /** `false`: counted, but never shown and not sealed (`allowVerdicts: counts`). */
  kept: boolean;
  /** JSON of the record. */
  body: string;
}

/** A row as readers receive it. */
export interface StoredRow {
  id: string;
  timestamp: number;
  body: string;
}

/**
 * All bodies are written alike, from any sender: its fields are in one order, its id is in lower case, because a UUID in
 * capitals would be another key for cursors and sorting, and a record without a bot says so. A record that has no inputs,
 * or no explanation, goes without.
 */
export function verdictRow(given: VerdictRecord, kept: boolean): NumberedRow {
  const record = inOrder(given);
  return { record, kept, body: JSON.stringify(record) };
}

/** With its fields in the order in which they are stored. */
export function inOrder(given: VerdictRecord): VerdictRecord {
  const { edge, bot } = given;
  return {
    v: given.v,
    id: given.id.toLowerCase(),
    request_id: given.request_id,
    timestamp: given.timestamp,
    instance_id: given.instance_id,
    site_key: given.site_key,
    jti: given.jti,
    ip: given.ip,
    ip_category: given.ip_category,
    country: given.country,
    asn: given.asn,
    ja4: given.ja4,
    user_agent: given.user_agent,
    bot: bot ? { id: bot.id, behaviours: bot.behaviours, proof: bot.proof } : null,
    device_type: given.device_type,
    method: given.method,
    host: given.host,
    request_path: given.request_path,
    path_type: given.path_type,
    decision: given.decision,
    source: given.source,
    decided_by: given.decided_by,
    fired_rules: given.fired_rules.map(({ id, verdict, mode }) => ({ id, verdict, mode })),
    inputs: given.inputs,
    explain: given.explain,
    enforcement_policy: given.enforcement_policy,
    session_status: given.session_status,
    verified: given.verified,
    level: given.level,
    risk_score: given.risk_score,
    status: given.status,
    origin_ms: given.origin_ms,
    ruleset_version: given.ruleset_version,
    edge: { colo: edge.colo, version: edge.version, isolate: edge.isolate, seq: edge.seq },
  };
}

/** What all readers sort rows by: newest first, then by falling id. */
export interface RowKey {
  timestamp: number;
  id: string;
}

/** Negative when `a` is newer, that is when it comes before `b`. */
export function compareNewestFirst(a: RowKey, b: RowKey): number {
  if (a.timestamp !== b.timestamp) return b.timestamp - a.timestamp;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}

/** The key of the newest row of a segment or a row group. */
export function newestOf({ maxTs, maxId }: { maxTs: number; maxId: string }): RowKey {
  return { timestamp: maxTs, id: maxId };
}
