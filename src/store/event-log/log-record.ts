/**
 * A stored record in the fields that filters and counts use. Verdicts have these fields. A captcha fills them with the
 * values that fit: its site as path, its type as source, its status as outcome, and as `enforcement_policy` the key
 * that its traffic is counted under.
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { decisions } from '../../contract/vocabulary.ts';
import { captchaCountKey, captchaStatuses, type CaptchaRecord } from './captcha-record.ts';
import type { TelemetryRecord } from './telemetry-record.ts';

export interface LogRecord {
  id: string;
  timestamp: number;
  /** A decision; for a captcha the decision with the number of its outcome. */
  decision: string;
  source: string;
  asn: number | null;
  device_type: string;
  /** A captcha has none, nor has a verdict of an older edge. */
  bot?: { id: string; proof: string } | null | undefined;
  host?: string | null;
  request_path: string;
  ip: string | null;
  jti: string | null;
  country: string | null;
  ja4: string | null;
  user_agent: string;
  ip_category: readonly string[];
  enforcement_policy: string;
  fired_rules: readonly { id: string }[];
  /** Of a verdict the HTTP status. */
  status: number | string;
  /** Of a verdict: `null` where the origin did not respond. */
  origin_ms?: number | null;
}

export function logRecord(body: string): LogRecord {
  const record = JSON.parse(body) as VerdictRecord | CaptchaRecord | TelemetryRecord;
  if ('captcha_type' in record) return captchaTerms(record);
  return 'report' in record ? telemetryTerms(record) : record;
}

/** A captcha in the fields of a log record. */
export function captchaTerms(record: CaptchaRecord): LogRecord {
  return {
    ...record,
    decision: decisions[captchaStatuses.indexOf(record.status)] ?? 'challenge',
    source: record.captcha_type,
    request_path: record.site_key,
    enforcement_policy: captchaCountKey(record.site_key, record.captcha_type, record.verified_at !== null),
    fired_rules: record.access_rule === null ? [] : [{ id: record.access_rule }],
  };
}

/** A report in the fields of a log record. Nothing but its session is searched or counted. */
export function telemetryTerms({ id, timestamp, jti }: TelemetryRecord): LogRecord {
  return {
    id,
    timestamp,
    jti,
    decision: 'allow',
    source: 'telemetry',
    asn: null,
    device_type: '',
    bot: null,
    request_path: '',
    ip: null,
    country: null,
    ja4: null,
    user_agent: '',
    ip_category: [],
    enforcement_policy: '',
    fired_rules: [],
    status: '',
  };
}

/** The outcome number of a decision. */
export function outcomeOf(decision: string): number {
  return decisions.findIndex((name) => name === decision);
}
