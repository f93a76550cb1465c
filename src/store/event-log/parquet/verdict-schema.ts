/**
 * Verdicts as Parquet columns: one per field. Of a bot, of the fired rules and of the edge each fact is a column of its
 * own, because not every engine reads nested records. The export has the same columns.
 */
import type { VerdictRecord } from '../../../contract/edge/verdict-record.ts';
import { double, type FlatOf, integer, moment, type StreamSchema, text, texts, truth } from './stream-schema.ts';

const nullable = { nullable: true } as const;
const packed = { isPacked: true };
const statistics = { hasStatistics: true };

const columns = {
  id: text({ ...packed, ...statistics }),
  /** Edges write the same as `id`. `null` in segments of version 1: the same as `id`. */
  request_id: text({ ...nullable, ...packed, ...statistics }),
  timestamp: moment(statistics),
  instance_id: text(),
  site_key: text(),
  jti: text({ ...nullable, ...packed }),
  ip: text({ ...nullable, ...packed, ...statistics }),
  ip_category: texts(),
  country: text(nullable),
  asn: integer({ ...nullable, ...packed, ...statistics }),
  ja4: text({ ...nullable, ...packed }),
  user_agent: text(packed),
  bot_id: text({ ...nullable, ...statistics }),
  bot_behaviours: texts(nullable),
  bot_proof: text(nullable),
  device_type: text(),
  method: text(),
  host: text(),
  request_path: text(packed),
  path_type: text(),
  decision: text(statistics),
  source: text(statistics),
  decided_by: text(packed),
  /** Three lists of the same length, one entry per fired rule. */
  fired_rule_ids: texts(packed),
  fired_rule_verdicts: texts(),
  fired_rule_modes: texts(),
  /** `null`: `inputs` say why. */
  explain: text({ ...nullable, ...packed }),
  enforcement_policy: text(),
  session_status: text(),
  verified: truth(nullable),
  level: integer(nullable),
  risk_score: double({ ...nullable, ...packed }),
  status: integer(),
  origin_ms: double({ ...nullable, ...packed }),
  ruleset_version: integer(),
  edge_colo: text(),
  edge_version: text(),
  edge_isolate: text(),
  edge_seq: integer({ ...packed, ...statistics }),
  /** JSON; `null`: no table was applied, or an older edge did not record its inputs. */
  inputs: text({ ...nullable, ...packed, isAdded: true }),
};

export const verdictSchema: StreamSchema<FlatOf<typeof columns>> = {
  columns,

  flatten(record: VerdictRecord) {
    const { bot, edge, fired_rules: fired } = record;
    return {
      id: record.id,
      request_id: record.request_id,
      timestamp: record.timestamp,
      instance_id: record.instance_id,
      site_key: record.site_key,
      jti: record.jti,
      ip: record.ip,
      ip_category: record.ip_category,
      country: record.country,
      asn: record.asn,
      ja4: record.ja4,
      user_agent: record.user_agent,
      bot_id: bot?.id ?? null,
      bot_behaviours: bot?.behaviours ?? [],
      bot_proof: bot?.proof ?? null,
      device_type: record.device_type,
      method: record.method,
      host: record.host,
      request_path: record.request_path,
      path_type: record.path_type,
      decision: record.decision,
      source: record.source,
      decided_by: record.decided_by,
      fired_rule_ids: fired.map((rule) => rule.id),
      fired_rule_verdicts: fired.map((rule) => rule.verdict),
      fired_rule_modes: fired.map((rule) => rule.mode),
      explain: record.explain ?? null,
      enforcement_policy: record.enforcement_policy,
      session_status: record.session_status,
      verified: record.verified,
      level: record.level,
      risk_score: record.risk_score,
      status: record.status,
      origin_ms: record.origin_ms,
      ruleset_version: record.ruleset_version,
      edge_colo: edge.colo,
      edge_version: edge.version,
      edge_isolate: edge.isolate,
      edge_seq: edge.seq,
      inputs: record.inputs === undefined ? null : JSON.stringify(record.inputs),
    };
  },

  json(flat) {
    const { fired_rule_verdicts: verdicts, fired_rule_modes: modes } = flat;
    return JSON.stringify({
      v: 1,
      id: flat.id,
      request_id: flat.request_id ?? flat.id,
      timestamp: flat.timestamp,
      instance_id: flat.instance_id,
      site_key: flat.site_key,
      jti: flat.jti,
      ip: flat.ip,
      ip_category: flat.ip_category,
      country: flat.country,
      asn: flat.asn,
      ja4: flat.ja4,
      user_agent: flat.user_agent,
      bot: flat.bot_id === null ? null : { id: flat.bot_id, behaviours: flat.bot_behaviours, proof: flat.bot_proof },
      device_type: flat.device_type,
      method: flat.method,
      host: flat.host,
      request_path: flat.request_path,
      path_type: flat.path_type,
      decision: flat.decision,
      source: flat.source,
      decided_by: flat.decided_by,
      fired_rules: flat.fired_rule_ids.map((id, at) => ({ id, verdict: verdicts[at], mode: modes[at] })),
      inputs: flat.inputs === null ? undefined : (JSON.parse(flat.inputs) as object),
      explain: flat.explain ?? undefined,
      enforcement_policy: flat.enforcement_policy,
      session_status: flat.session_status,
      verified: flat.verified,
      level: flat.level,
      risk_score: flat.risk_score,
      status: flat.status,
      origin_ms: flat.origin_ms,
      ruleset_version: flat.ruleset_version,
      edge: { colo: flat.edge_colo, version: flat.edge_version, isolate: flat.edge_isolate, seq: flat.edge_seq },
    });
  },
};
