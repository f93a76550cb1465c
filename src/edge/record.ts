/**
 * The one record of a request (design 7), made from the passage wherever it ended. Bounded texts: a
 * hostile visitor's header or path must not make a row large.
 */
import {
  RECORD_FIRED_RULES_MAX,
  RECORD_TEXT_MAX_CHARS,
  VERDICT_RECORD_VERSION,
} from '../contract/edge/record-bounds.ts';
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import { ownText } from '../bytes/own-text.ts';
import type { Passage } from './request/passage.ts';

export interface RecordSource {
  instanceId: string;
  version: string;
  isolate: string;
  seq: number;
}

const DECIDED_BY_MAX_CHARS = 320;
/** A record's host and path are cut out of the address; of a longer one they are copied. */
const ADDRESS_MAX_CHARS = 512;

export function recordOf(passage: Passage, status: number, from: RecordSource): VerdictRecord {
  const { requestId, request, target, signals, path, verdict, config } = passage;
  const cut = target && target.received.length > ADDRESS_MAX_CHARS ? ownText : (text: string) => text;
  return {
    v: VERDICT_RECORD_VERSION,
    id: requestId,
    request_id: requestId,
    timestamp: passage.nowMs,
    instance_id: from.instanceId,
    site_key: config?.siteKey ?? 'unknown',
    jti: passage.jti,
    ip: signals?.ip ?? null,
    ip_category: signals ? [...signals.ipCategories] : [],
    country: signals?.countryCode ?? null,
    asn: signals?.asn ?? null,
    ja4: signals?.ja4 ?? null,
    user_agent: bounded(signals?.userAgent ?? ''),
    device_type: signals?.deviceType ?? 'unknown',
    method: request.method,
    host: cut(target?.host ?? ''),
    request_path: cut(bounded(target?.path ?? '')),
    path_type: path?.pathType ?? 'html',
    decision: verdict?.decision ?? 'allow',
    source: verdict?.source ?? 'error',
    decided_by: bounded(verdict?.decidedBy ?? 'default', DECIDED_BY_MAX_CHARS),
    fired_rules: firedRules(passage),
    explain: verdict?.explain ?? '',
    enforcement_policy: verdict?.enforcementPolicy ?? 'enforce',
    session_status: verdict?.sessionStatus ?? 'off',
    verified: passage.verified,
    level: verdict?.level ?? null,
    risk_score: verdict?.riskScore ?? null,
    status,
    origin_ms: passage.originMs,
    ruleset_version: passage.rulesetVersion,
    edge: { colo: signals?.colo ?? 'local', version: from.version, isolate: from.isolate, seq: from.seq },
  };
}

const NO_RULES: VerdictRecord['fired_rules'] = [];

function firedRules({ verdict }: Passage): VerdictRecord['fired_rules'] {
  if (!verdict || verdict.firedRules.length === 0) return NO_RULES;
  return verdict.firedRules
    .slice(0, RECORD_FIRED_RULES_MAX)
    .map((rule) => ({ id: rule.id, verdict: rule.verdict, mode: rule.mode }));
}

/** Cuts between characters, never inside one. */
function bounded(text: string, maxChars = RECORD_TEXT_MAX_CHARS): string {
  return text.length <= maxChars ? text : ownText(text.slice(0, maxChars)).replace(/[\ud800-\udbff]$/, '');
}
