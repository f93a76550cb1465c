/**
 * A log row: the columns that queries need, and the record's JSON, which is what readers get back
 * and what sealed segments hold. Made once, in the Worker, from a checked record, so that the shard
 * neither validates nor serialises. One engine serves two streams; `outcome` is the three-way split
 * that every count is kept by: allow, challenge, block for verdicts.
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { decisions } from '../../contract/vocabulary.ts';

export interface LogRow {
  id: string;
  /** Epoch milliseconds, of the record. */
  timestamp: number;
  jti: string | null;
  ip: string | null;
  asn: number | null;
  /** 0, 1 or 2. */
  outcome: number;
  source: string;
  device: string;
  path: string;
  /** How many rules fired. */
  fired: number;
  /** `false`: counted, never shown, not sealed (`allowVerdicts: counts`). */
  kept: boolean;
  isolate: string;
  isolateSeq: number;
  body: string;
}

/** A row as a reader gets it. */
export interface StoredRow {
  id: string;
  timestamp: number;
  body: string;
}

/** A UUID may be written in capitals too: it is one id all the same, and cursors and orders know one form. */
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
    path: record.request_path,
    fired: record.fired_rules.length,
    kept,
    isolate: record.edge.isolate,
    isolateSeq: record.edge.seq,
    body: JSON.stringify(record),
  };
}

/** Position of a row in the one order every reader uses: newest first, ties by id downward. */
export interface RowKey {
  timestamp: number;
  id: string;
}

/** Negative when `a` comes before `b`, that is when `a` is newer. */
export function compareNewestFirst(a: RowKey, b: RowKey): number {
  if (a.timestamp !== b.timestamp) return b.timestamp - a.timestamp;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}
