/**
 * The filter of a verdict query, and how it tests a row. Unsealed rows and records are tested as a whole, sealed rows by
 * their keys and by the column of their classes (`columns/verdict-columns.ts`). A property test compares all three.
 */
import { shortReference } from '../../contract/edge/short-reference.ts';
import { type LogRecord, outcomeOf } from './log-record.ts';
import type { RowKey } from './log-row.ts';

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

/** The fields with few values: all that the class of a sealed row has, beside the number of its rules. */
export interface RowClass {
  outcome: number;
  source: string;
  device: string;
  bot: string | null;
  proof: string | null;
}

/** What a filter compares of a row. Memory has it of unsealed rows, and a record gives it of itself. */
export interface FilteredRow extends RowClass, RowKey {
  jti: string | null;
  ip: string | null;
  asn: number | null;
  path: string;
  rules: readonly string[];
}

export function filteredRow(record: LogRecord): FilteredRow {
  return {
    id: record.id,
    timestamp: record.timestamp,
    jti: record.jti,
    ip: record.ip,
    asn: record.asn,
    outcome: outcomeOf(record.decision),
    source: record.source,
    device: record.device_type,
    bot: record.bot?.id ?? null,
    proof: record.bot?.proof ?? null,
    path: record.request_path,
    rules: record.fired_rules.map(({ id }) => id),
  };
}

export function matches(filter: RowFilter, record: LogRecord): boolean {
  return passes(filter, filteredRow(record));
}

export function passes(filter: RowFilter, row: FilteredRow): boolean {
  const { asns, path, firedRules } = filter;
  if (row.timestamp < filter.since || row.timestamp >= filter.until) return false;
  if (filter.jti !== null && row.jti !== filter.jti) return false;
  if (filter.ip !== null && row.ip !== filter.ip) return false;
  if (filter.id !== null && row.id !== filter.id) return false;
  if (filter.shortId !== null && shortReference(row.id) !== filter.shortId) return false;
  if (asns && (row.asn === null || !asns.includes(row.asn))) return false;
  if (path && (path.prefix ? !row.path.startsWith(path.text) : row.path !== path.text)) return false;
  if (firedRules && !row.rules.some((rule) => firedRules.includes(rule))) return false;
  return passesClass(filter, row, row.rules.length);
}

/** The conditions on the class of a row in which `fired` rules fired. */
export function passesClass(filter: RowFilter, row: RowClass, fired: number): boolean {
  const { outcomes, sources, devices, bots, proofs, minRulesFired } = filter;
  if (outcomes && !outcomes.includes(row.outcome)) return false;
  if (sources && !sources.includes(row.source)) return false;
  if (devices && !devices.includes(row.device)) return false;
  if (bots && (row.bot === null || !bots.includes(row.bot))) return false;
  if (proofs && (row.proof === null || !proofs.includes(row.proof))) return false;
  return fired >= minRulesFired;
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
