/**
 * The filter of a verdict query, and how it tests a sealed record. `shard/hot-query.ts` applies it to unsealed rows by
 * SQL and `shard/verdict-segment-match.ts` to sealed segments by their columns. The three must agree; a property test
 * compares them.
 */
import { shortReference } from '../../contract/edge/short-reference.ts';
import { decisions } from '../../contract/vocabulary.ts';
import type { LogRecord } from './log-record.ts';

export interface RowFilter {
  /** Epoch milliseconds, inclusive. */
  since: number;
  /** Epoch milliseconds, exclusive. */
  until: number;
  /** Outcome numbers; `null`: any. */
  outcomes: readonly number[] | null;
  sources: readonly string[] | null;
  /** At least one of these rules fired. */
  firedRules: readonly string[] | null;
  asns: readonly number[] | null;
  devices: readonly string[] | null;
  /** Ids of bots. */
  bots: readonly string[] | null;
  /** How the name of a bot was proved. */
  proofs: readonly string[] | null;
  /** Exact path, or with `prefix` the beginning of one. */
  path: { text: string; prefix: boolean } | null;
  minRulesFired: number;
  ip: string | null;
  jti: string | null;
  /** One record. Sealed segments have no key of it, so a filter by id needs a window of its own. */
  id: string | null;
  /** Records whose id has this short form. It needs a window too: that of the short form. */
  shortId: string | null;
}

export const everything: RowFilter = {
  since: 0,
  until: Number.MAX_SAFE_INTEGER,
  outcomes: null,
  sources: null,
  firedRules: null,
  asns: null,
  devices: null,
  bots: null,
  proofs: null,
  path: null,
  minRulesFired: 0,
  ip: null,
  jti: null,
  id: null,
  shortId: null,
};

/** Whether a sealed record matches. */
export function matches(filter: RowFilter, record: LogRecord): boolean {
  if (record.timestamp < filter.since || record.timestamp >= filter.until) return false;
  if (filter.outcomes && !filter.outcomes.some((outcome) => decisions[outcome] === record.decision)) return false;
  if (filter.sources && !filter.sources.includes(record.source)) return false;
  if (filter.asns && (record.asn === null || !filter.asns.includes(record.asn))) return false;
  if (filter.devices && !filter.devices.includes(record.device_type)) return false;
  if (filter.bots && !(record.bot && filter.bots.includes(record.bot.id))) return false;
  if (filter.proofs && !(record.bot && filter.proofs.includes(record.bot.proof))) return false;
  if (filter.ip !== null && record.ip !== filter.ip) return false;
  if (filter.jti !== null && record.jti !== filter.jti) return false;
  if (filter.id !== null && record.id !== filter.id) return false;
  if (filter.shortId !== null && shortReference(record.id) !== filter.shortId) return false;
  if (filter.path?.prefix && !record.request_path.startsWith(filter.path.text)) return false;
  if (filter.path && !filter.path.prefix && record.request_path !== filter.path.text) return false;
  if (record.fired_rules.length < filter.minRulesFired) return false;
  if (filter.firedRules && !record.fired_rules.some((rule) => filter.firedRules?.includes(rule.id))) return false;
  return true;
}

/**
 * Texts that the JSON of every matching record contains. Searching for them takes a tenth of the time of parsing a
 * record. Texts with half of a surrogate pair are left out, because JSON writes it differently when it is alone.
 */
export function fragmentsOf(filter: RowFilter): string[] {
  const texts = [filter.ip, filter.jti, filter.id, filter.path?.text ?? null];
  for (const list of [filter.sources, filter.devices, filter.bots, filter.proofs, filter.firedRules])
    if (list?.length === 1) texts.push(list[0] ?? null);
  const asn = filter.asns?.length === 1 ? [`"asn":${filter.asns[0]}`] : [];
  // The end of an id is the end of its text.
  const idEnd = filter.shortId === null ? [] : [`${filter.shortId.slice(-4)}"`];
  const plain = texts.filter((text) => text?.isWellFormed()).map((text) => JSON.stringify(text).slice(1, -1));
  return [...plain, ...asn, ...idEnd];
}
