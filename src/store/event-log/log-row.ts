/**
 * A log row: the columns that queries need, and the record's JSON, which readers receive and sealed segments hold. The
 * Worker builds it from a checked record, so that the shard neither validates nor serialises. Both streams share it;
 * `outcome` is the three-way split of every count (allow, challenge, block for verdicts).
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { decisions } from '../../contract/vocabulary.ts';

export interface LogRow {
  id: string;
  /** Epoch milliseconds, from the record. */
  timestamp: number;
  jti: string | null;
  ip: string | null;
  asn: number | null;
  /** 0, 1 or 2. */
  outcome: number;
  source: string;
  device: string;
  /** Id and proof of the bot; `null`: no known bot. */
  bot: string | null;
  proof: string | null;
  path: string;
  /** How many rules fired. */
  fired: number;
  /** `false`: counted, but never shown and not sealed (`allowVerdicts: counts`). */
  kept: boolean;
  body: string;
}

/** A row as readers receive it. */
export interface StoredRow {
  id: string;
  timestamp: number;
  body: string;
}

/** A UUID may be written in capitals. It is stored in lower case, so that cursors and sorting see one form. */
export function verdictRow(given: VerdictRecord, kept: boolean): LogRow {
  const id = given.id.toLowerCase();
  const record = id === given.id ? given : { ...given, id };
  return {
    id,
    timestamp: record.timestamp,
    jti: record.jti,
    ip: record.ip,
    asn: record.asn,
    outcome: decisions.indexOf(record.decision),
    source: record.source,
    device: record.device_type,
    bot: record.bot?.id ?? null,
    proof: record.bot?.proof ?? null,
    path: record.request_path,
    fired: record.fired_rules.length,
    kept,
    body: JSON.stringify(record),
  };
}

/** Position of a row in the order that all readers use: newest first, then by falling id. */
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
