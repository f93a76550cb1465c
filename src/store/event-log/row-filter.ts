/**
 * What a reader asks for, in one value, with its two readings: SQL over hot rows and a predicate over
 * sealed ones. They must agree; a property test holds them together.
 */
import { decisions } from '../../contract/vocabulary.ts';
import type { LogRecord } from './log-record.ts';

export interface RowFilter {
  /** Epoch milliseconds, inclusive. */
  since: number;
  /** Exclusive. */
  until: number;
  /** Outcome numbers; `null`: any. */
  outcomes: readonly number[] | null;
  sources: readonly string[] | null;
  /** At least one of them fired. */
  firedRules: readonly string[] | null;
  asns: readonly number[] | null;
  devices: readonly string[] | null;
  /** Exact path, or with `prefix` the start of one. */
  path: { text: string; prefix: boolean } | null;
  minRulesFired: number;
  ip: string | null;
  jti: string | null;
}

export const everything: RowFilter = {
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
  outcomes: null,
  sources: null,
  firedRules: null,
  asns: null,
  devices: null,
  path: null,
  minRulesFired: 0,
  ip: null,
  jti: null,
};

/** The same question asked of a sealed row. */
export function matches(filter: RowFilter, record: LogRecord): boolean {
  if (record.timestamp < filter.since || record.timestamp >= filter.until) return false;
  if (filter.outcomes && !filter.outcomes.some((outcome) => decisions[outcome] === record.decision)) return false;
  if (filter.sources && !filter.sources.includes(record.source)) return false;
  if (filter.asns && (record.asn === null || !filter.asns.includes(record.asn))) return false;
  if (filter.devices && !filter.devices.includes(record.device_type)) return false;
  if (filter.ip !== null && record.ip !== filter.ip) return false;
  if (filter.jti !== null && record.jti !== filter.jti) return false;
  if (filter.path?.prefix && !record.request_path.startsWith(filter.path.text)) return false;
  if (filter.path && !filter.path.prefix && record.request_path !== filter.path.text) return false;
  if (record.fired_rules.length < filter.minRulesFired) return false;
  if (filter.firedRules && !record.fired_rules.some((rule) => filter.firedRules?.includes(rule.id))) return false;
  return true;
}

/**
 * Texts that the JSON of every matching record holds: looking for them costs a tenth of parsing a record that does
 * not match. Half a surrogate pair is left out: alone it is written otherwise than within the pair.
 */
export function fragmentsOf(filter: RowFilter): string[] {
  const texts = [filter.ip, filter.jti, filter.path?.text ?? null];
  for (const list of [filter.sources, filter.devices, filter.firedRules])
    if (list?.length === 1) texts.push(list[0] ?? null);
  const asn = filter.asns?.length === 1 ? [`"asn":${filter.asns[0]}`] : [];
  return [...texts.filter((text) => text?.isWellFormed()).map((text) => JSON.stringify(text).slice(1, -1)), ...asn];
}
